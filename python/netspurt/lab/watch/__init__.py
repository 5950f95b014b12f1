"""Live sources of the page: a prober, an emulation, or files that either of them writes elsewhere.

Lives here: streams of events for the page. Must not live here: their display, simulated runs.
"""
