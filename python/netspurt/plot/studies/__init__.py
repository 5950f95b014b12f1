"""Plots that only the studies use, one file for each kind."""
