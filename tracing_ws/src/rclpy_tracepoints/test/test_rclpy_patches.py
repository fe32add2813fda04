# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The patches on modules that do not fit, the names of callbacks, and what wrappers keep."""

from __future__ import annotations

import functools
import inspect
import types
import warnings
from pathlib import Path
from unittest.mock import MagicMock

import pytest


class Emit:
    """Stands for libtracetools: every event, in order."""

    def __init__(self):
        self.events = []
        self.pending = (0, None)

    def bind(self):
        return 11

    def take_pending(self, callback):
        (callback_id, pending), self.pending = self.pending, (0, None)
        return callback_id if pending is callback else 0

    def __getattr__(self, name):
        return lambda *args: self.events.append((name, *args))


@pytest.fixture
def emit(patches, monkeypatch):
    recorder = Emit()
    monkeypatch.setattr(patches, "_emit", recorder)
    return recorder


async def await_or_execute(callback, *args):
    """Call it."""
    if inspect.iscoroutinefunction(callback):
        return await callback(*args)
    return callback(*args)


def executors(**attributes):
    module = types.ModuleType("rclpy.executors")
    module.await_or_execute = await_or_execute
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


def run(coroutine):
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    return end.value.value


def test_a_patch_that_does_not_fit_is_left_out_and_told(patches, emit):
    module = executors()
    with pytest.warns(RuntimeWarning) as told:
        patches.patch(module)
    assert len(told) == 4
    assert str(told[0].message) == (
        "rclpy_tracepoints: Cannot patch rclpy.executors (trace_waits): "
        "AttributeError(\"module 'rclpy.executors' has no attribute '_rclpy'\"). "
        "Its trace events will be missing."
    )
    assert module.await_or_execute is not await_or_execute
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        patches.patch(executors())


def test_warnings_as_errors_are_printed_instead(patches, emit, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        patches.patch(executors())
    assert capsys.readouterr().err.count("Cannot patch rclpy.executors") == 4


def test_nothing_is_patched_without_tracetools(patches):
    module = executors()
    patches.patch(module)
    assert module.await_or_execute is await_or_execute


@pytest.fixture
def traced(patches, emit):
    module = executors()
    patches.trace_callbacks(module)
    return module.await_or_execute


def test_the_wrapper_looks_like_the_original(traced):
    assert inspect.signature(traced) == inspect.signature(await_or_execute)
    assert inspect.iscoroutinefunction(traced)
    assert traced.__doc__ == "Call it."


def test_a_module_is_patched_once(patches, emit, traced):
    module = executors(await_or_execute=traced)
    patches.trace_callbacks(module)
    assert module.await_or_execute is traced


def test_results_pass(traced, emit):
    def callback(a, b):
        emit.ran(a)
        return a + b

    emit.pending = (7, callback)
    assert run(traced(callback, 1, 2)) == 3
    assert emit.events == [("callback_start", 7), ("ran", 1), ("callback_end", 7)]


def test_another_callback_than_the_taken_one_emits_nothing(traced, emit):
    emit.pending = (7, print)
    assert run(traced(lambda: 5)) == 5
    assert emit.events == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_exceptions_pass_and_the_callback_ends(traced, emit, error):
    def callback():
        raise error("own")

    emit.pending = (7, callback)
    with pytest.raises(error, match="own"):
        traced(callback).send(None)
    assert emit.events == [("callback_start", 7), ("callback_end", 7)]


@types.coroutine
def suspend(value):
    return (yield value)


def pieces(emit):
    """Tell whether the events are those of one execution that awaited once, by how far it got."""
    number = next((event[2] for event in emit.events if event[0] == "callback_suspend"), None)
    first = [("callback_start", 7), ("callback_suspend", 7, number), ("callback_end", 7)]
    last = [("callback_resume", 7, number), ("callback_start", 7), ("callback_end", 7)]
    return {"suspended": emit.events == first, "resumed": emit.events == [*first, *last]}


@pytest.fixture
def suspended(traced, emit, monkeypatch):
    """A traced callback that awaits, and catches what is thrown into it."""
    monkeypatch.setitem(
        __import__("sys").modules, "rclpy.task", types.SimpleNamespace(Future=Future)
    )

    async def callback(awaitable):
        try:
            return await awaitable
        except KeyError:
            return "caught"

    def start(awaitable):
        emit.pending = (7, callback)
        return traced(callback, awaitable)

    return start


class Future:
    """As rclpy's: it yields until it is done."""

    state = "pending"

    def __await__(self):
        while self.state == "pending":
            yield
        return self.state

    def done(self):
        return self.state == "done"

    def cancelled(self):
        return self.state == "cancelled"


def test_what_is_awaited_and_sent_passes(suspended, emit):
    coroutine = suspended(suspend("awaited"))
    assert coroutine.send(None) == "awaited"
    with pytest.raises(StopIteration) as end:
        coroutine.send("sent")
    assert end.value.value == "sent"
    assert pieces(emit)["resumed"]


def test_what_is_thrown_passes(suspended, emit):
    coroutine = suspended(suspend("awaited"))
    coroutine.send(None)
    with pytest.raises(StopIteration) as end:
        coroutine.throw(KeyError())
    assert end.value.value == "caught"
    assert pieces(emit)["resumed"]


def test_a_cancelled_callback_is_closed(suspended, emit):
    coroutine = suspended(suspend("awaited"))
    coroutine.send(None)
    coroutine.close()
    assert pieces(emit)["suspended"]


@pytest.mark.parametrize("state", ["done", "cancelled"])
def test_polls_of_a_pending_future_are_no_pieces(suspended, emit, state):
    future = Future()
    coroutine = suspended(future)
    for _ in range(5):
        assert coroutine.send(None) is None
    assert pieces(emit)["suspended"]
    future.state = state
    assert run(coroutine) == state
    assert pieces(emit)["resumed"]


def test_executions_of_one_callback_have_numbers_of_their_own(suspended, emit):
    first, second = suspended(suspend(1)), suspended(suspend(2))
    emit.pending = (7, first.cr_frame.f_locals["callback"])
    first.send(None)
    emit.pending = (7, second.cr_frame.f_locals["callback"])
    second.send(None)
    run(first)
    run(second)
    steps = [event for event in emit.events if len(event) == 3]
    names = ["callback_suspend", "callback_suspend", "callback_resume", "callback_resume"]
    assert [name for name, _, _ in steps] == names
    numbers = [number for _, _, number in steps]
    assert numbers[:2] == numbers[2:] and numbers[0] != numbers[1]


class Handle:
    pointer = 5


class Publisher:
    """As rclpy's."""

    handle = Handle()

    def __init__(self, emit):
        self.emit = emit

    def publish(self, msg):
        self.emit.converted(msg)
        if msg is None:
            raise TypeError("own")


@pytest.fixture
def publisher(patches, emit, monkeypatch):
    monkeypatch.setattr(Publisher, "publish", Publisher.publish)
    patches.trace_publishes(types.SimpleNamespace(Publisher=Publisher))
    return Publisher(emit)


def test_publish_emits_the_publisher_before_the_conversion(publisher, emit):
    publisher.publish("first")
    publisher.publish(msg="second")
    with pytest.raises(TypeError, match="own"):
        publisher.publish(None)
    messages = ("first", "second", None)
    assert emit.events == [e for m in messages for e in (("publish", 5), ("converted", m))]


def test_a_publisher_that_cannot_be_named_publishes_all_the_same(publisher, emit):
    publisher.handle = None
    with pytest.warns(RuntimeWarning, match="Cannot name a publisher") as told:
        publisher.publish("first")
        publisher.publish("second")
    assert len(told) == 1
    assert emit.events == [("converted", "first"), ("converted", "second")]


nameless = lambda: None  # noqa: E731
LINE = nameless.__code__.co_firstlineno


class Named:
    nameless = lambda self: None  # noqa: E731

    def method(self):
        pass

    def __call__(self):
        pass


@pytest.mark.parametrize(
    ("callback", "symbol"),
    [
        (run, f"{__name__}.run"),
        (Named().method, f"{__name__}.Named.method"),
        (Named(), f"{__name__}.Named.__call__"),
        (Named, f"{__name__}.Named"),
        (nameless, f"{__name__}.<lambda> ({Path(__file__).name}:{LINE})"),
        (
            functools.partial(Named().nameless, 1),
            f"{__name__}.Named.<lambda> ({Path(__file__).name}:{LINE + 5})",
        ),
        (functools.partial(functools.partial(run), 1), f"{__name__}.run"),
        ([].append, "builtins.list.append"),
        (print, "builtins.print"),
        (MagicMock(), "unittest.mock.MagicMock.__call__"),
    ],
)
def test_symbols(patches, callback, symbol):
    from rclpy_tracepoints.registry import symbol_of

    assert symbol_of(callback) == symbol


def test_a_long_symbol_is_cut(patches):
    from rclpy_tracepoints.registry import symbol_of

    def callback():
        pass

    callback.__qualname__ = "x\udc80" * 2000
    assert len(symbol_of(callback).encode()) == 1000
    nowhere = eval(compile("lambda: None", "x" * 2000, "eval"))
    nowhere.__qualname__ = callback.__qualname__
    assert len(symbol_of(nowhere).encode()) == 1000
    assert symbol_of(nowhere).endswith("x:1)")


def test_emitting_without_tracetools_does_nothing(patches):
    from rclpy_tracepoints import _emit

    assert _emit.bind() == 0
    for emitted in (_emit.callback_start, _emit.callback_end, _emit.wait_for_work):
        assert emitted(1) is None
        with pytest.raises(TypeError):
            emitted("text")
    with pytest.raises(TypeError, match="needs 2 arguments"):
        _emit.subscription_init(1)


def test_a_pending_id_is_for_one_callback_on_one_thread_once(patches):
    from concurrent.futures import ThreadPoolExecutor

    from rclpy_tracepoints import _emit

    _emit.execute(1, 16, run)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(_emit.take_pending, run).result() == 0
    assert [_emit.take_pending(run), _emit.take_pending(run)] == [16, 0]
    _emit.execute(1, 32, run)
    assert _emit.take_pending(functools.partial(run, info=1)) == 32
    _emit.execute(1, 48, run)
    assert _emit.take_pending(print) == 0
    _emit.execute(1, 64, run)
    _emit.clear_pending()
    assert _emit.take_pending(run) == 0
