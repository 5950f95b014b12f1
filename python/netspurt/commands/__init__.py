"""The commands, one module each, imported only when asked for.

Lives here: what a command does with its options. Must not live here: parsing them (``cli``), or the work itself.
"""
