"""What a path on disk holds, and its runs, traces, captures and sweeps in the forms that other packages read.

Lives here: one classifier of files, and a module for each kind of source. Must not live here: pictures, comparisons.
"""
