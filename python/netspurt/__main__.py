"""``python -m netspurt``: the same as the command ``netspurt``."""

import sys

from netspurt.cli import main

if __name__ == "__main__":
    sys.exit(main())
