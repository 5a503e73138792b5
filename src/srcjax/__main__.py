"""`python -m srcjax`."""

import sys

from srcjax.cli import main

if __name__ == "__main__":
    sys.exit(main())
