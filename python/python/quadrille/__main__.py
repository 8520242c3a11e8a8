"""The command line: ``python -m quadrille`` and the script ``quadrille``."""

from __future__ import annotations

import sys

from . import _quadrille


def main() -> int:
    """Runs the program on the arguments of this process; returns its exit code."""
    return _quadrille.main(["quadrille", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
