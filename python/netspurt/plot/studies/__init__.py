"""One file for each kind of picture that only the studies draw."""
