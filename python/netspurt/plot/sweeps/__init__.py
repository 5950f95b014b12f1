"""Plots of a sweep or of a comparison, one file for each kind."""
