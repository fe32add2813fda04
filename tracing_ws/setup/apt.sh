#!/usr/bin/env bash
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# Install the distribution packages of apt.txt that are missing. Needs root or sudo only for that.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

mapfile -t wanted < <(grep -vE '^\s*(#|$)' "$here/apt.txt")
missing=()
for package in "${wanted[@]}"; do
  if [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) != "install ok installed" ]]; then
    missing+=("$package")
  fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
  echo "[setup] distribution packages: all ${#wanted[@]} installed"
  exit 0
fi

if [[ $(id -u) -eq 0 ]]; then
  as_root=()
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
  as_root=(sudo)
else
  cat >&2 <<MESSAGE
[setup] Cannot install distribution packages: ${#missing[@]} are missing, this user is not root and
        cannot use sudo. Ask somebody who can to run:
          apt-get update && apt-get install --no-install-recommends ${missing[*]}
        then run make setup again.
MESSAGE
  exit 1
fi
echo "[setup] distribution packages: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
