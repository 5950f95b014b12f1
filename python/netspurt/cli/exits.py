"""Exit statuses of every command."""

FINE, FELL_SHORT, WRONG_REQUEST, INTERRUPTED = 0, 1, 2, 130
