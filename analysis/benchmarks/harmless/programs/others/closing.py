# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Closes all descriptors, goes on with its own, and starts programs in each of Python's ways."""

import multiprocessing
import os
import subprocess
import sys
import tempfile


def square(number: int) -> int:
    return number * number


def main() -> None:
    os.closerange(3, 4096)
    with tempfile.TemporaryFile() as file:
        file.write(b"own")
        print(file.fileno(), file.tell())
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(square, range(4)))
    for options in ({}, {"preexec_fn": os.setsid}, {"close_fds": False}):
        done = subprocess.run(["echo", "started"], stdout=subprocess.PIPE, check=True, **options)
        print(done.stdout)
    sys.exit(5)


if __name__ == "__main__":
    main()
