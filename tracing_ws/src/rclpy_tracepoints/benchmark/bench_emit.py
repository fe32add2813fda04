# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the patches cost: nanoseconds a call, without and with a recording session.

usage: bench_emit.py [DISTRO=jazzy]
Prints a table. Each figure is the least of the rounds, so that other load counts little; a
callback's is what the patches add to taking a message and running an empty callback.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "emit_calls.py"
sys.path.insert(0, str(HERE.parents[1]))


def main() -> None:
    """Measure in a process as the recorder makes it, with a session daemon of its own."""
    from others import Others
    from traced_ros import Lttng, Ros

    ros = Ros(sys.argv[1] if len(sys.argv) > 1 else "jazzy")
    if not ros.hook.is_dir():
        raise SystemExit(
            f"Cannot measure: {ros.install} holds no rclpy_tracepoints. Run make setup."
        )
    home = Path(tempfile.mkdtemp(prefix="rb", dir="/tmp"))
    lttng, others = Lttng(home), Others()
    try:
        idle = measured(lttng.run(ros, PROGRAM))
        session, output = lttng.start()
        recorded = measured(lttng.run(ros, PROGRAM))
        lttng.stop(session)
        told = others.sentence()
        require_all(output)
    finally:
        lttng.close()
        shutil.rmtree(home)
    lines = [f"{ros.distro + ', ns per call':<24}{'no session':>13}{'recording':>13}"]
    lines += [f"{name:<24}{ns:>13.0f}{recorded[name]:>13.0f}" for name, ns in idle.items()]
    lines.append(told)
    sys.stdout.write("\n".join(lines) + "\n")


def require_all(trace: Path) -> None:
    """End unless the trace has every event: a lost one costs less."""
    # Only its text output tells of discarded events.
    done = subprocess.run(
        ["babeltrace2", trace], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    if done.returncode != 0 or "discarded" in done.stderr:
        raise SystemExit(f"Cannot measure: events were lost.\n{done.stderr}Run it again.")


def measured(done) -> dict[str, float]:
    """Return the figures that a run printed."""
    if done.returncode != 0:
        raise SystemExit(
            f"Cannot measure: {PROGRAM.name} ended with {done.returncode}.\n{done.stderr}"
        )
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
