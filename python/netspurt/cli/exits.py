"""Exit statuses of every command, and the sentence after Ctrl-C where results are kept."""

import sys

FINE, FELL_SHORT, WRONG_REQUEST, INTERRUPTED = 0, 1, 2, 130


def interrupted(complete: int, asked_for: int, name: str) -> int:
    """Says on standard error which results are kept after Ctrl-C: those of ``complete`` of the runs or files.

    Returns:
        The exit status.
    """
    print(
        f"netspurt: interrupted; the results are those of {complete} of {asked_for} {name}", file=sys.stderr
    )
    return INTERRUPTED
