"""Random scripts against the running kernel and against the profile `linux`: the parts of `tools/differential.py`."""
