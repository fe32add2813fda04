#!/usr/bin/env bash
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# Make a virtual environment and install pinned wheels into it.
# usage: wheels.sh ENVIRONMENT REQUIREMENTS...
# The environment sees the distribution's modules (bt2, gi). The files are complete locks: pip
# resolves nothing. Does nothing when the environment was made from the same files.
set -euo pipefail
environment=$1
shift

stamp="$environment/.strata-wheels"
made_from=$(cat "$@" | sha256sum | cut -d' ' -f1)
if [[ -f $stamp && $(cat "$stamp") == "$made_from" ]]; then
  echo "[setup] $(basename "$environment"): wheels as pinned"
  exit 0
fi
if [[ ! -x $environment/bin/python ]]; then
  echo "[setup] $(basename "$environment"): making the virtual environment"
  /usr/bin/python3 -m venv --system-site-packages "$environment"
fi
lists=()
for file in "$@"; do lists+=(-r "$file"); done
echo "[setup] $(basename "$environment"): installing $(cat "$@" | grep -cE '^[A-Za-z]') wheels"
# --ignore-installed: a distribution's module of another version must not stand in for a pin.
# The wheels' start-up hook re-executes Python; this keeps it out.
_ROS_WHEELS_BOOTSTRAP_COMPLETE=1 "$environment/bin/python" -m pip install \
  --quiet --no-deps --ignore-installed --disable-pip-version-check "${lists[@]}"
echo "$made_from" >"$stamp"
