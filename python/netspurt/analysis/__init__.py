"""Numbers from tables: captures, delays, replays of timers over delays, statistics.

Lives here: the analysis of a table. Must not live here: finding files, running simulations, plots, printing.
"""
