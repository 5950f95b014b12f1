"""Plots of a run, a trace or a capture, one file for each kind."""
