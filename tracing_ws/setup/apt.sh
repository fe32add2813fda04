#!/usr/bin/env bash
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# Install the distribution packages of apt.txt that are missing. Needs root or sudo only for that.
# A package marked `optional` serves tests or one workload only: it is left out where the distribution has none of
# that name, and where nobody may install it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

is_installed() {
  [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == "install ok installed" ]]
}

required=()
optional=()
count=0
while read -r package mark; do
  count=$((count + 1))
  is_installed "$package" && continue
  if [[ $mark == optional ]]; then optional+=("$package"); else required+=("$package"); fi
done < <(grep -vE '^\s*(#|$)' "$here/apt.txt")
if [[ $((${#required[@]} + ${#optional[@]})) -eq 0 ]]; then
  echo "[setup] distribution packages: all $count installed"
  exit 0
fi

if [[ $(id -u) -eq 0 ]]; then
  as_root=()
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
  as_root=(sudo)
elif [[ ${#required[@]} -eq 0 ]]; then
  echo "[setup] distribution packages: going on without ${optional[*]}; tests that need it are skipped"
  exit 0
else
  cat >&2 <<MESSAGE
[setup] Cannot install distribution packages: this user is not root and cannot use sudo, and these
        are missing: ${required[*]}. Ask somebody who can to run:
          apt-get update && apt-get install --no-install-recommends ${required[*]} ${optional[*]}
        then run make setup again.
MESSAGE
  exit 1
fi
"${as_root[@]}" apt-get update -qq
available=()
for package in "${optional[@]}"; do
  if apt-cache show "$package" >/dev/null 2>&1; then
    available+=("$package")
  else
    echo "[setup] distribution packages: none named $package here; tests that need it are skipped"
  fi
done
wanted=("${required[@]}" "${available[@]}")
[[ ${#wanted[@]} -eq 0 ]] && exit 0
echo "[setup] distribution packages: installing ${wanted[*]}"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes \
  apt-get install -y -qq --no-install-recommends "${wanted[@]}" >/dev/null
