"""The parts of tools/check_layers.py."""
