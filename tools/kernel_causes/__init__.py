"""Transfers by the kernel with one cause that limits them, and what `why` says about their captures."""
