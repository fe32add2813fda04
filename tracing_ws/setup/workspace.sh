#!/usr/bin/env bash
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# Build the colcon workspace for one ROS distribution.
# usage: workspace.sh DISTRO [PREFIX]
# PREFIX is a virtual environment that holds the ROS wheels; without it /opt/ros/DISTRO is used.
# Result: tracing_ws/install/DISTRO (one merged prefix). Does nothing when the sources, the
# installation and this script are those of the last build; tests and benchmarks are not installed.
set -euo pipefail
distro=$1
prefix=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
workspace=$(dirname "$here")
install="$workspace/install/$distro"
build="$workspace/build/$distro"

stamp="$build/.strata-built"
made_from=$(
  {
    find "$workspace/src" "$here" -type d \
      \( -name test -o -name benchmark -o -name __pycache__ -o -name '.*_cache' \) -prune \
      -o -type f -print0 | sort -z | xargs -0 sha256sum
    echo "$install $prefix"
    cat "$prefix/.strata-wheels" 2>/dev/null || true
  } | sha256sum | cut -d' ' -f1
)
if [[ -f $stamp && $(cat "$stamp") == "$made_from" ]]; then
  echo "[setup] workspace for $distro: up to date"
  exit 0
fi

arguments=(
  --merge-install --base-paths "$workspace/src"
  --build-base "$build" --install-base "$install"
)
if [[ -n $prefix ]]; then
  # shellcheck source=tracing_ws/setup/environment.sh
  source "$here/environment.sh" "$prefix"
  colcon=("$prefix/bin/colcon")
  python="$prefix/bin/python"
else
  # A full ROS 2: its tracetools is linked to the system's lttng-ust, so it needs no provider.
  set +u
  source "/opt/ros/$distro/setup.bash"
  set -u
  if ! command -v colcon >/dev/null; then
    echo "[setup] Cannot build the workspace: colcon is not installed beside /opt/ros/$distro." \
      "Install python3-colcon-common-extensions, then run make setup again." >&2
    exit 1
  fi
  colcon=(colcon)
  python=/usr/bin/python3
  arguments+=(--packages-skip tracetools_provider)
fi
cmake_arguments=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DPython3_EXECUTABLE="$python" -DBUILD_TESTING=OFF --no-warn-unused-cli)
[[ -n $prefix ]] && cmake_arguments+=(-C "$here/wheels.cmake")

echo "[setup] workspace for $distro: building (log: tracing_ws/log/$distro)"
# Its warning would be that the wheels' prefix has no local_setup files, which nobody sources.
"${colcon[@]}" --log-level error --log-base "$workspace/log/$distro" build "${arguments[@]}" \
  --event-handlers console_stderr+ console_start_end+ \
  --cmake-args "${cmake_arguments[@]}"
echo "$made_from" >"$stamp"
