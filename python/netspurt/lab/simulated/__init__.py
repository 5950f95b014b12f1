"""Simulated runs for the page: their data, their limits, several seeds, and their report.

Lives here: what the page shows of a run. Must not live here: requests, or the settings of a scenario.
"""
