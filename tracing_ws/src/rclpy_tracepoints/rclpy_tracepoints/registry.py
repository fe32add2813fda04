# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The ids and names of callbacks, and the events that announce them."""

from __future__ import annotations

import functools
import itertools
import types
from pathlib import Path
from typing import Any, NamedTuple

from rclpy_tracepoints import _emit

# Ids stand where rclcpp puts addresses. These are no address of a Linux process (2^47 and up are
# the kernel's), never used again, and exact in a double (below 2^53).
_ids = itertools.count(1 << 52, 16)
# An event larger than a sub-buffer would be lost.
_LONGEST_SYMBOL = 1000
_LONGEST_FILE = 80
_ATTRIBUTE = "_rclpy_tracepoints"


class Registration(NamedTuple):
    """What an entity's callback is known by; it holds as long as the entity has this callback."""

    callback: Any
    handle: int
    callback_id: int


def symbol_of(callback: Any) -> str:
    """Return `module.qualname` of what a callback runs.

    A partial is named by its function, a callable object by its type's `__call__`. Lambdas have no
    names that tell them apart: theirs ends with ` (file:line)`.
    """
    while isinstance(callback, functools.partial):
        callback = callback.func
    named, suffix = callback, ""
    if not isinstance(getattr(callback, "__qualname__", None), str):
        named, suffix = type(callback), ".__call__"
    module = getattr(named, "__module__", None)
    if not isinstance(module, str):
        module = "builtins"
    place = _printable(_place(callback))
    name = _printable(f"{module}.{named.__qualname__}{suffix}")
    return name[: _LONGEST_SYMBOL - len(place)] + place


def _place(callback: Any) -> str:
    """Return where a lambda is written, to stand behind its name; nothing for what has a name."""
    code = getattr(callback, "__code__", None)
    if not isinstance(code, types.CodeType) or code.co_name != "<lambda>":
        return ""
    # Of a longer path a sentence needs the end only; and it must not be longer than a symbol.
    file = Path(code.co_filename).name[-_LONGEST_FILE:]
    return f" ({file}:{code.co_firstlineno})"


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def registration_of(entity: Any) -> Registration | None:
    """Return the registration of an entity's present callback; None when it has no callback.

    Announces the callback when it is new: of an entity that was made before the patches, or when
    the program gave the entity another callback.
    """
    known = entity.__dict__.get(_ATTRIBUTE)
    callback = entity.callback
    if known is not None and known.callback is callback:
        return known
    if callback is None:
        return None
    registration = Registration(callback, entity.handle.pointer, next(_ids))
    setattr(entity, _ATTRIBUTE, registration)
    _announcements[_kind(entity)](registration)
    _emit.callback_register(registration.callback_id, symbol_of(callback))
    return registration


_of_functions: dict[tuple[Any, int], int] = {}


def callback_id_of(callback: Any) -> int:
    """Return the id of a callback that belongs to no entity, such as those of actions.

    Announced when it is new. Programs make a closure for each goal: what runs the same code for the
    same object is one callback.
    """
    function, bound = callback, getattr(callback, "__self__", None)
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    key = (getattr(function, "__code__", type(function)), id(bound))
    callback_id = _of_functions.get(key)
    if callback_id is None:
        callback_id = _of_functions.setdefault(key, next(_ids))
        _emit.service_callback_added(next(_ids), callback_id)
        _emit.callback_register(callback_id, symbol_of(callback))
    return callback_id


def goal_of(goal_handle: Any, callback_id: int) -> int:
    """Return what stands for the handle of a goal in events; announced when it is new.

    It is announced as rclcpp does a service and its callback, on the thread that accepts the goal.
    """
    goal = goal_handle.__dict__.get(_ATTRIBUTE)
    if goal is None:
        goal = next(_ids)
        setattr(goal_handle, _ATTRIBUTE, goal)
        _emit.goal_added(goal, callback_id)
    return int(goal)


def _kind(entity: Any) -> str:
    for kind in type(entity).__mro__:
        if kind.__module__.startswith("rclpy.") and kind.__name__ in _announcements:
            return kind.__name__
    raise TypeError(f"{type(entity).__qualname__} is no entity of rclpy")


def _subscription(registration: Registration) -> None:
    subscription = next(_ids)
    _emit.subscription_init(registration.handle, subscription)
    _emit.subscription_callback_added(subscription, registration.callback_id)


def _timer(registration: Registration) -> None:
    _emit.timer_callback_added(registration.handle, registration.callback_id)


def _service(registration: Registration) -> None:
    _emit.service_callback_added(registration.handle, registration.callback_id)


_announcements = {"Subscription": _subscription, "Timer": _timer, "Service": _service}
