# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`python3 -m relay_chain`."""

from __future__ import annotations

import sys

from relay_chain.chain import run
from relay_chain.options import parse


def main() -> None:
    """Run the chain that the command line asks for."""
    sys.exit(run(parse(sys.argv[1:])))


if __name__ == "__main__":
    main()
