"""Writing files: whole or not at all, growing while rows arrive, Parquet in pieces.

Lives here: how files get to disk. Must not live here: what they contain.
"""
