"""One file for each kind of picture of a sweep or of a comparison."""
