# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the start-up hook does to programs with and without rclpy."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from traced_ros import Ros

LIST = """
import sys
print('sitecustomize' in sys.modules, sorted(name for name in sys.modules if 'rcl' in name))
"""
SIGNATURES = """
import inspect, json
import rclpy.executors, rclpy.node, rclpy.subscription, rclpy.service, rclpy.timer
from rclpy.impl.implementation_singleton import rclpy_implementation
owners = [(rclpy.node.Node, 'create_timer'), (rclpy.executors, 'await_or_execute'),
  (rclpy.subscription.Subscription, '__init__'), (rclpy.service.Service, '__init__'),
  (rclpy.timer.Timer, '__init__'), (rclpy.executors.Executor, '_take_subscription'),
  (rclpy.executors.Executor, '_take_timer'), (rclpy.executors.Executor, '_take_service')]
found = {f'{o.__name__}.{n}': str(inspect.signature(getattr(o, n))) for o, n in owners}
loaders = [type(m.__loader__).__name__ for m in (rclpy.node, rclpy.timer, rclpy.executors)]
patched = [hasattr(getattr(o, n), '__wrapped__') for o, n in owners]
patched.append(hasattr(rclpy_implementation.WaitSet.wait, '__wrapped__'))
wait = rclpy_implementation.WaitSet.wait
print(json.dumps([found, loaders, wait.__name__, wait.__doc__]))
print(sum(patched))
"""


def plain(path: list, code: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a Python without ROS."""
    environment = {n: v for n, v in os.environ.items() if not n.startswith(("PYTHON", "LD_"))}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, path))
    return subprocess.run(
        [sys.executable, *options, "-c", code], env=environment, capture_output=True, text=True
    )


@pytest.fixture
def other(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("marker = 'other'\nprint('other ran')\n")
    return tmp_path


def test_a_program_without_rclpy_imports_nothing_of_it(ros: Ros):
    done = plain([ros.hook, ros.packages], LIST)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("True []\n")


def test_the_next_sitecustomize_runs_and_is_what_is_imported(ros: Ros, other):
    code = "import sitecustomize; print(sitecustomize.marker, sitecustomize.__file__)"
    done = plain([ros.hook, other], code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"other ran\nother {other}/sitecustomize.py\n"


def test_the_hook_twice_on_the_path_runs_once(ros: Ros, other):
    done = plain([ros.hook, ros.hook, other], "pass")
    assert (done.returncode, done.stdout, done.stderr) == (0, "other ran\n", "")


@pytest.mark.parametrize("fault", ["1 / 0", "import no_such_module", "raise SystemExit(3)"])
def test_a_failing_next_sitecustomize_is_reported_as_without_the_hook(ros: Ros, tmp_path, fault):
    (tmp_path / "sitecustomize.py").write_text(fault)
    alone, hooked = plain([tmp_path], "print(1)"), plain([ros.hook, tmp_path], "print(1)")
    assert (hooked.returncode, hooked.stdout) == (alone.returncode, alone.stdout)
    assert hooked.stderr.splitlines()[-1:] == alone.stderr.splitlines()[-1:]


def test_a_module_named_like_rclpys_without_patches_still_runs(ros: Ros, tmp_path):
    """The package is missing on this PYTHONPATH: the program runs, and is told."""
    (tmp_path / "rclpy").mkdir()
    (tmp_path / "rclpy/__init__.py").write_text("")
    (tmp_path / "rclpy/timer.py").write_text("value = 5")
    done = plain([ros.hook, tmp_path], "import rclpy.timer; print(rclpy.timer.value)", "-S")
    assert done.stdout == "5\n"
    done = plain([ros.hook, tmp_path], "import rclpy.timer; print(rclpy.timer.value)")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "5")
    assert "Cannot trace the callbacks of rclpy.timer" in done.stderr
    assert "The program runs without them." in done.stderr


def test_signatures_and_loaders_stay(ros: Ros):
    without = ros.run("-c", SIGNATURES, environment=ros.environment(hook=False))
    hooked = ros.run("-c", SIGNATURES)
    assert (without.returncode, hooked.returncode) == (0, 0), hooked.stderr
    assert hooked.stdout.splitlines()[0] == without.stdout.splitlines()[0]
    assert without.stdout.splitlines()[1] == "0"
    assert hooked.stdout.splitlines()[1] == "9"


def test_tracetools_is_found_where_nothing_is_preloaded(ros: Ros):
    """As on /opt/ros: the library came with rclpy's own, out of the global scope."""
    environment = ros.environment()
    environment.pop("LD_PRELOAD", None)
    code = "import rclpy.node; from rclpy_tracepoints import _emit; print(_emit.bind())"
    done = ros.run("-c", code, environment=environment)
    assert (done.returncode, done.stdout) == (0, "12\n"), done.stderr


def test_an_error_of_the_program_is_its_own(ros: Ros):
    code = "import rclpy.node; rclpy.node.Node('needs init')"
    hooked, without = (
        ros.run("-c", code, environment=ros.environment(hook=hook)) for hook in (True, False)
    )
    assert (hooked.returncode, hooked.stdout) == (without.returncode, without.stdout)
    assert hooked.stderr == without.stderr
