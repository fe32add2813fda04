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
# The wheels' start-up hook re-executes Python; this keeps it out.
export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
pip() { "$environment/bin/python" -m pip --disable-pip-version-check "$@"; }

# uv needs seconds where pip needs a minute of CPU. It does not read pip's configuration: the indexes that are
# set there are handed over. Where it cannot be had or fails, pip does the same.
with_uv() {
  pip install --quiet uv==0.13.9 || return 1
  local setting value
  for setting in index-url:UV_DEFAULT_INDEX extra-index-url:UV_INDEX; do
    value=$(pip config list 2>/dev/null | sed -nE "s/^[^=]*\.${setting%%:*}='(.*)'$/\1/p" | tail -n 1)
    [[ -z $value ]] || export "${setting##*:}=$value"
  done
  "$environment/bin/uv" pip install --python "$environment/bin/python" \
    --quiet --no-cache --system-certs --no-deps --reinstall "${lists[@]}"
}
# --ignore-installed: a distribution's module of another version must not stand in for a pin.
with_uv || pip install --quiet --no-deps --ignore-installed "${lists[@]}"
echo "$made_from" >"$stamp"
