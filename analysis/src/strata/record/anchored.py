# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A recording's directory, found again when somebody renames it while the recording goes on."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from pathlib import Path

from strata.errors import OutputError

_RESERVE = ".strata-reserve"
# More than a manifest with thousands of process ids.
_RESERVE_BYTES = 512 << 10


class AnchoredDirectory:
    """A directory held open, so that its present name is known, with space kept for the manifest.

    LTTng's consumer holds it in the same way: the trace goes with the directory. Only one recorder
    and its watchdog hold it at a time. Use as a context manager; its entry raises OutputError.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def __enter__(self) -> AnchoredDirectory:
        self._descriptor = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise OutputError(
                f"Cannot record into {self._path}: another recorder is using it. Wait until it "
                "ends, or choose another -o."
            ) from None
        except OSError as error:
            # Some file systems of networks have no locks.
            if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP):
                raise
        return self

    def __exit__(self, *_: object) -> None:
        self.release_space()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def descriptor(self) -> int:
        """The open directory."""
        assert self._descriptor is not None
        return self._descriptor

    def path(self) -> Path | None:
        """Return the directory's present path; null when it was removed."""
        # The kernel adds " (deleted)" to the name of what has no link any more.
        if os.fstat(self.descriptor).st_nlink == 0:
            return None
        found = Path(f"/proc/self/fd/{self.descriptor}").readlink()
        with contextlib.suppress(OSError):
            if os.path.samestat(self._path.stat(), os.fstat(self.descriptor)):
                # As the user wrote it, links included.
                return self._path
        return found

    def reserve_space(self) -> None:
        """Keep space for what is written at the end, when the disk may be full."""
        try:
            reserve = os.open(
                _RESERVE,
                # What stands there is not ours, and a link would lead to what is not, either.
                os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC,
                0o600,
                dir_fd=self.descriptor,
            )
        except OSError:
            return
        try:
            # A file system without allocation (some network ones) keeps no space.
            with contextlib.suppress(OSError):
                os.posix_fallocate(reserve, 0, _RESERVE_BYTES)
        finally:
            os.close(reserve)

    def release_space(self) -> None:
        """Give the kept space back."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.unlink(_RESERVE, dir_fd=self._descriptor)
