"""One file for each kind of picture of a run, a trace or a capture."""
