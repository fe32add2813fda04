# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Network namespaces without a name: the kernel removes one with the last that holds it.

A process that may not make them, makes them in a user namespace of its own, where that is allowed.
Imports the standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

_NEW_USER, _NEW_NET, _NEW_MOUNTS = 0x10000000, 0x40000000, 0x00020000
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000
_PR_SET_DUMPABLE = 4
_CAP_SYS_ADMIN, _CAP_NET_ADMIN = 21, 12
_C = ctypes.CDLL(None, use_errno=True)
MACHINE_ID = Path("/etc/machine-id")
"""What a program tells one host from another by, Fast DDS 3 for one."""

_NO_IPV6 = ("all", "default")


def needs_user_namespace() -> bool:
    """Return whether this process may make network namespaces in a user namespace only."""
    lines = Path("/proc/self/status").read_text().splitlines()
    effective = int(next(line.split()[1] for line in lines if line.startswith("CapEff:")), 16)
    return not all(effective >> number & 1 for number in (_CAP_SYS_ADMIN, _CAP_NET_ADMIN))


def _unshare(kind: int) -> None:
    _check(_C.unshare(kind))


def _join(file: int, kind: int) -> None:
    _check(_C.setns(file, kind))


def _check(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _show_machine_id(file: Path) -> None:
    """Let this process and its children, and nothing else, see that file as MACHINE_ID."""
    _unshare(_NEW_MOUNTS)
    _check(_C.mount(None, b"/", None, ctypes.c_ulong(_RECURSIVE | _PRIVATE), None))
    source, place = os.fsencode(file), os.fsencode(MACHINE_ID)
    _check(_C.mount(source, place, None, ctypes.c_ulong(_BIND), None))


def _map_user(inside: int, outside: int, group_inside: int, group_outside: int) -> None:
    # After a change of credentials /proc/self is root's, until this.
    _C.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{inside} {outside} 1")
    Path("/proc/self/gid_map").write_text(f"{group_inside} {group_outside} 1")


def tried(act: Callable[[], None]) -> OSError | None:
    """Do something in a child, which ends then; give the error that it met."""
    try:
        _made_by(act, [])
    except OSError as error:
        return error
    return None


def _made_by(make: Callable[[], None], entries: list[str]) -> list[int]:
    """Run `make` in a child, and open those entries of its directory in /proc.

    Raises OSError with the number of the child's.
    """
    told, tell = os.pipe()
    stay, release = os.pipe()
    child = os.fork()
    if not child:
        status = 0
        try:
            os.close(release)
            make()
            # Else only root may look into it, if this process was root before.
            _C.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
        except OSError as error:
            status = error.errno or 255
        except BaseException:
            status = 255
        os.write(tell, bytes([status]))
        os.read(stay, 1)
        os._exit(0)
    os.close(tell)
    os.close(stay)
    try:
        status = (os.read(told, 1) or b"\xff")[0]
        if status:
            raise OSError(status, os.strerror(status))
        with contextlib.ExitStack() as opened:
            files: list[int] = []
            for entry in entries:
                files.append(os.open(f"/proc/{child}/{entry}", os.O_RDONLY | os.O_CLOEXEC))
                opened.callback(os.close, files[-1])
            opened.pop_all()
        return files
    finally:
        os.close(told)
        os.close(release)
        os.waitpid(child, 0)


class UserNamespace:
    """A user namespace in which the user is root, over network namespaces only.

    Raises OSError when the system refuses it.
    """

    def __init__(self) -> None:
        self._user, self._group = os.geteuid(), os.getegid()

        def make() -> None:
            _unshare(_NEW_USER)
            _map_user(0, self._user, 0, self._group)

        (self.file,) = _made_by(make, ["ns/user"])

    def enter(self) -> None:
        """Make this process root in it."""
        _join(self.file, _NEW_USER)

    def become_user_again(self) -> None:
        """Give this process, which is root in it, the id that the user has outside.

        LTTng asks a process for its id, and keeps root's traces apart.
        """
        _unshare(_NEW_USER)
        _map_user(self._user, 0, self._group, 0)

    def close(self) -> None:
        """Let go of it."""
        os.close(self.file)


class NetworkNamespace:
    """A network namespace with nothing but a loopback interface, which is down.

    It ends with this object and the last process in it. Raises OSError when the system refuses it.
    """

    def __init__(self, user: UserNamespace | None) -> None:
        self._user = user

        def make() -> None:
            if user:
                user.enter()
            _unshare(_NEW_NET)
            for which in _NO_IPV6:
                # What no scenario sends would count as traffic.
                with contextlib.suppress(OSError):
                    Path(f"/proc/sys/net/ipv6/conf/{which}/disable_ipv6").write_text("1")

        # What is open tells of its namespace, even when the process through which it was is gone.
        self.file, dev, snmp = _made_by(make, ["ns/net", "net/dev", "net/snmp"])
        self._dev: IO[bytes] = os.fdopen(dev, "rb", buffering=0)
        self._snmp: IO[bytes] = os.fdopen(snmp, "rb", buffering=0)

    def enter(self) -> None:
        """Move this process into it, with the rights to change it."""
        if self._user:
            self._user.enter()
        _join(self.file, _NEW_NET)

    def enter_as_user(self, machine_id: Path | None = None) -> None:
        """Move this process into it, with no more rights than before.

        `machine_id` is the file that it sees as MACHINE_ID from then on. Raises OSError.
        """
        self.enter()
        if machine_id:
            _show_machine_id(machine_id)
        if self._user:
            self._user.become_user_again()

    def interface_counters(self, name: str) -> dict[str, int]:
        """Read what went over an interface: bytes and packets, sent and received."""
        for line in _read(self._dev).splitlines():
            interface, colon, rest = line.partition(":")
            if colon and interface.strip() == name:
                fields = [int(field) for field in rest.split()]
                return {
                    "sent_bytes": fields[8],
                    "sent_packets": fields[9],
                    "received_bytes": fields[0],
                    "received_packets": fields[1],
                }
        return {}

    def protocol_counters(self) -> dict[str, int]:
        """Read the counters of its IP and UDP, by names such as `Udp.RcvbufErrors`."""
        lines = [line.split() for line in _read(self._snmp).splitlines()]
        found: dict[str, int] = {}
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            protocol = names[0].rstrip(":")
            for name, value in zip(names[1:], values[1:], strict=True):
                found[f"{protocol}.{name}"] = int(value)
        return found

    def close(self) -> None:
        """Let go of it."""
        os.close(self.file)
        self._dev.close()
        self._snmp.close()


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
