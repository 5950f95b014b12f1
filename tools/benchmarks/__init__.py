"""What `tools/bench.py` measures, by part of the program."""
