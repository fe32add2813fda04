# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Becomes a daemon as the textbooks have it, and answers by a pipe."""

import os
import resource

reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    os.chdir("/")
    os.umask(0)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    os.dup2(writer, 3)
    os.closerange(4, min(most, 65536))
    for number in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    os.write(3, b"a daemon")
    os._exit(0)
os.close(writer)
os.wait()
with os.fdopen(reader, "rb") as answer:
    print(answer.read())
