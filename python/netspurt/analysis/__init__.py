"""Numbers from tables: captures, delays, timers replayed over delays, statistics.

Lives here: what a table means. Must not live here: finding files, running simulations, pictures, printing.
"""
