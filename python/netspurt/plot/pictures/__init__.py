"""One picture a file: which numbers stand where. Drawing itself is in ``netspurt.plot.drawing``."""
