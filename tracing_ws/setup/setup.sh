#!/usr/bin/env bash
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# Set this machine up: distribution packages, Python environment, ROS 2, workspace, strata.
# Idempotent; a second run takes seconds. See `make setup`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root"

"$here/apt.sh"

# A full ROS 2 is used where there is one; the newest supported distribution first.
distro=jazzy
ros=
for candidate in kilted jazzy; do
  if [[ -f /opt/ros/$candidate/setup.bash ]]; then
    distro=$candidate
    ros=/opt/ros/$candidate
    break
  fi
done

if [[ -n $ros ]]; then
  echo "[setup] ROS 2: $ros"
  "$here/wheels.sh" "$root/.venv" "$root/analysis/requirements.txt"
  "$here/workspace.sh" "$distro"
else
  echo "[setup] ROS 2: $distro from wheels (no /opt/ros)"
  "$here/wheels.sh" "$root/.venv" "$here/jazzy.txt" "$root/analysis/requirements.txt"
  "$here/workspace.sh" "$distro" "$root/.venv"
fi

# The decoder is compiled; Python sources are used where they stand. An editable installation knows its
# modules by name, so their names count too.
stamp="$root/.venv/.strata-package"
sources() { find "$root/analysis/native" -path '*/build' -prune -o -type f -print | LC_ALL=C sort; }
modules() { (cd "$root/analysis/src" && find strata -name '*.py' -print | LC_ALL=C sort); }
made_from=$( (sources | xargs sha256sum; modules;
  sha256sum "$root/analysis/pyproject.toml" "$root/.venv/.strata-wheels") | sha256sum)
if [[ ! -x $root/.venv/bin/strata || ! -f $stamp || $(cat "$stamp") != "$made_from" ]]; then
  echo "[setup] strata: compiling its decoder and installing the package (editable)"
  _ROS_WHEELS_BOOTSTRAP_COMPLETE=1 "$root/.venv/bin/python" -m pip install --quiet --no-deps \
    --no-build-isolation --disable-pip-version-check -e "$root/analysis"
  # Bytecode of strata's modules and of what they import: who runs them may not be allowed to write it.
  env -u PYTHONDONTWRITEBYTECODE _ROS_WHEELS_BOOTSTRAP_COMPLETE=1 "$root/.venv/bin/python" - <<'PYTHON'
import contextlib, importlib, pkgutil, strata

for module in pkgutil.walk_packages(strata.__path__, "strata."):
    if not module.name.endswith("__main__"):
        with contextlib.suppress(ImportError):  # ros2cli is not everywhere
            importlib.import_module(module.name)
PYTHON
  echo "$made_from" >"$stamp"
fi
echo "[setup] ready: .venv/bin/strata"
