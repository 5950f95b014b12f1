"""Inputs: the kind of a path, and its runs, traces, captures and sweeps in the forms that other packages read.

Lives here: one classifier of files, and a module for each kind of source. Must not live here: plots, comparisons.
"""
