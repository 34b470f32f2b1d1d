"""`python -m flowkit`, the same as the command `flowkit`."""

import sys

from flowkit.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
