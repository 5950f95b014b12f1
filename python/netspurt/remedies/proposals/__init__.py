"""The remedies, one file for each kind of limit."""
