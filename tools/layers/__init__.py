"""The parts of check_layers.py, one kind of source each."""
