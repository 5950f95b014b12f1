"""Scenarios of one path: from the options of a command, or by a call; and the path models by name."""
