# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is changed in rclpy's modules so that they emit rclcpp's tracepoints.

Every patch keeps signatures, results and exceptions. One that does not fit the rclpy at hand is
left out with a warning; so is an event whose making fails. The program is never kept from running.
"""

from __future__ import annotations

import functools
import itertools
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

from rclpy_tracepoints import _emit
from rclpy_tracepoints.registry import Registration, callback_id_of, goal_of, registration_of

_warned: set[str] = set()
_PATCHED = "_rclpy_tracepoints"
# Numbers of the executions that were ever suspended.
_executions = itertools.count(1)


def patch(module: types.ModuleType) -> None:
    """Patch one of rclpy's modules; nothing in a process without tracetools."""
    if _emit.bind() == 0:
        return
    for apply in _PATCHES.get(module.__name__, ()):
        try:
            apply(module)
        except Exception as error:
            _warn(apply.__name__, f"Cannot patch {module.__name__} ({apply.__name__}): {error!r}.")


def _warn(key: str, fact: str) -> None:
    if key in _warned:
        return
    _warned.add(key)
    message = f"{fact} Its trace events will be missing."
    try:
        warnings.warn(f"rclpy_tracepoints: {message}", RuntimeWarning, stacklevel=2)
    except Exception:
        # The program makes warnings errors; this one is not the program's.
        sys.stderr.write(f"rclpy_tracepoints: {message}\n")


def _register(entity: Any) -> Registration | None:
    try:
        return registration_of(entity)
    except Exception as error:
        _warn(f"register {type(entity)}", f"Cannot register a {type(entity).__name__}: {error!r}.")
        return None


def _replace(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    if hasattr(original, _PATCHED):
        return  # A reloaded module shares what is defined elsewhere.
    replacement = functools.wraps(original)(make(original))
    setattr(replacement, _PATCHED, True)
    setattr(owner, name, replacement)


def _registering(original: Callable[..., None]) -> Callable[..., None]:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original(self, *args, **kwargs)
        _register(self)

    return __init__


def register_subscriptions(module: Any) -> None:
    """Announce the callback of each new subscription."""
    _replace(module.Subscription, "__init__", _registering)


def register_services(module: Any) -> None:
    """Announce the callback of each new service."""
    _replace(module.Service, "__init__", _registering)


def register_timers(module: Any) -> None:
    """Announce the callback of each new timer; the executors' timers for timeouts have none."""
    _replace(module.Timer, "__init__", _registering)


def link_timers(module: Any) -> None:
    """Say which node a timer belongs to."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def create_timer(self: Any, *args: Any, **kwargs: Any) -> Any:
            timer = original(self, *args, **kwargs)
            try:
                _emit.timer_link_node(timer.handle.pointer, self.handle.pointer)
            except Exception as error:
                _warn("link timer", f"Cannot link a timer to its node: {error!r}.")
            return timer

        return create_timer

    _replace(module.Node, "create_timer", make)


def trace_waits(module: Any) -> None:
    """Emit when an executor begins to wait and when it has waited."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
            timeout = args[0] if args else -1
            _emit.wait_for_work(timeout if isinstance(timeout, int) else -1)
            result = original(self, *args, **kwargs)
            _emit.get_next_ready()
            return result

        return wait

    _replace(module._rclpy.WaitSet, "wait", make)


def _taking(original: Callable[..., Any]) -> Callable[..., Any]:
    def take(self: Any, entity: Any, *args: Any, **kwargs: Any) -> Any:
        registration = _register(entity)
        if registration is None:
            _emit.clear_pending()
        else:
            _emit.execute(registration.handle, registration.callback_id, registration.callback)
        return original(self, entity, *args, **kwargs)

    return take


def trace_subscription_takes(module: Any) -> None:
    """Emit before a message is taken, on the thread that runs the callback."""
    _replace(module.Executor, "_take_subscription", _taking)


def trace_timer_takes(module: Any) -> None:
    """Emit before a timer is called, on the thread that runs the callback."""
    _replace(module.Executor, "_take_timer", _taking)


def trace_service_takes(module: Any) -> None:
    """Emit before a request is taken, on the thread that runs the callback; rclcpp does not."""
    _replace(module.Executor, "_take_service", _taking)


def trace_callbacks(module: Any) -> None:
    """Emit around the callbacks of subscriptions, timers and services."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        async def await_or_execute(callback: Any, *args: Any) -> Any:
            callback_id = _emit.take_pending(callback)
            if not callback_id:
                return await original(callback, *args)
            return await _run(callback_id, original(callback, *args))

        return await_or_execute

    _replace(module, "await_or_execute", make)


@types.coroutine
def _run(callback_id: int, coroutine: Any) -> Any:
    """Run a callback; one that awaits gets a start and an end each time it runs.

    So the events of a thread always nest, and none lasts while its thread runs something else. What
    is suspended and resumed says which pieces are one execution.
    """
    resume, value, execution = coroutine.send, None, 0
    while True:
        _emit.callback_start(callback_id)
        try:
            awaited = resume(value)
            execution = execution or next(_executions)
            _emit.callback_suspend(callback_id, execution)
        except StopIteration as done:
            return done.value
        finally:
            _emit.callback_end(callback_id)
        future = _awaited_future(coroutine)
        try:
            value = yield awaited
            # Executors resume a task at every turn: until the future is done, it only yields again.
            while future is not None and not (future.done() or future.cancelled()):
                value = yield awaited
            resume = coroutine.send
        except GeneratorExit:
            coroutine.close()
            raise
        except BaseException as error:
            resume, value = coroutine.throw, error
        _emit.callback_resume(callback_id, execution)


_EXECUTING = "_rclpy_tracepoints_executing"


def mark_executions(module: Any) -> None:
    """Remember which callback executes a goal: that of a cancel is given the goal, too."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        async def _execute_goal(self: Any, execute_callback: Any, goal_handle: Any) -> Any:
            setattr(goal_handle, _EXECUTING, execute_callback)
            return await original(self, execute_callback, goal_handle)

        return _execute_goal

    _replace(module.ActionServer, "_execute_goal", make)


def trace_action_callbacks(module: Any) -> None:
    """Emit around the callbacks of an action's server, or around those of feedback.

    What rclpy puts in place of a callback that the program did not give is left alone.
    """

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        async def await_or_execute(callback: Any, *args: Any) -> Any:
            try:
                callback_id = _entered(callback, args)
            except Exception as error:
                _warn("action callback", f"Cannot trace a callback of an action: {error!r}.")
                callback_id = 0
            if not callback_id:
                return await original(callback, *args)
            return await _run(callback_id, original(callback, *args))

        return await_or_execute

    # The module has the function of rclpy.executors, which may be patched for entities.
    original = module.await_or_execute
    module.await_or_execute = make(getattr(original, "__wrapped__", original))


def _entered(callback: Any, args: tuple[Any, ...]) -> int:
    """Return the id of an action's callback, 0 for rclpy's own; say which goal it is about.

    A goal is first seen by the callback that is told of its acceptance, on the thread that has just
    answered the request.
    """
    callback_id = callback_id_of(callback)
    if len(args) == 1 and type(args[0]).__name__ == "ServerGoalHandle":
        goal = goal_of(args[0], callback_id)
        if getattr(args[0], _EXECUTING, None) is callback:
            _emit.execute(goal, callback_id, callback)
            _emit.clear_pending()
    own = getattr(callback, "__module__", None) == "rclpy.action.server"
    return 0 if own else callback_id


def _awaited_future(coroutine: Any) -> Any:
    """Return the rclpy future that a suspended coroutine waits for, if it is one."""
    innermost = coroutine
    while innermost is not None:
        waiting = innermost
        innermost = getattr(waiting, "cr_await", None) or getattr(waiting, "gi_yieldfrom", None)
    frame = getattr(waiting, "gi_frame", None)
    future = sys.modules["rclpy.task"].Future
    if frame is None or frame.f_code is not future.__await__.__code__:
        return None
    return frame.f_locals.get("self")


def trace_publishes(module: Any) -> None:
    """Emit when publish() is entered, before the message is converted to its C form."""

    def make(original: Callable[..., None]) -> Callable[..., None]:
        def publish(self: Any, *args: Any, **kwargs: Any) -> None:
            address = self.__dict__.get(_PATCHED)
            if address is None:
                address = self.__dict__[_PATCHED] = _address(self)
            if address:
                _emit.publish(address)
            original(self, *args, **kwargs)

        return publish

    _replace(module.Publisher, "publish", make)


def _address(publisher: Any) -> int:
    """Return the address of a publisher's rcl handle; 0 when it cannot be told."""
    try:
        return int(publisher.handle.pointer)
    except Exception as error:
        _warn("publisher", f"Cannot name a publisher: {error!r}.")
        return 0


def report_events_executor(module: Any) -> None:
    """Warn that the events executor runs callbacks where these patches do not reach."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def EventsExecutor(*args: Any, **kwargs: Any) -> Any:  # noqa: N802
            _warn("events executor", "The EventsExecutor calls callbacks from C++.")
            return original(*args, **kwargs)

        return EventsExecutor

    _replace(module, "EventsExecutor", make)


_PATCHES: dict[str, tuple[Callable[[Any], None], ...]] = {
    "rclpy.action.client": (trace_action_callbacks,),
    "rclpy.action.server": (mark_executions, trace_action_callbacks),
    "rclpy.executors": (
        trace_waits,
        trace_subscription_takes,
        trace_timer_takes,
        trace_service_takes,
        trace_callbacks,
    ),
    "rclpy.experimental.events_executor": (report_events_executor,),
    "rclpy.node": (link_timers,),
    "rclpy.publisher": (trace_publishes,),
    "rclpy.service": (register_services,),
    "rclpy.subscription": (register_subscriptions,),
    "rclpy.timer": (register_timers,),
}
