#!/usr/bin/env bash
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# Install the distribution packages of apt.txt that are missing. Needs root or sudo only for that.
# A package marked `optional` is left out where the distribution has none of that name.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

missing=()
unknown=()
count=0
while read -r package mark; do
  count=$((count + 1))
  if [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == "install ok installed" ]]; then
    continue
  fi
  # Lists that were never fetched name nothing: then apt-get below is the judge.
  if [[ $mark == optional ]] && apt-cache show bash >/dev/null 2>&1 &&
    ! apt-cache show "$package" >/dev/null 2>&1; then
    unknown+=("$package")
    continue
  fi
  missing+=("$package")
done < <(grep -vE '^\s*(#|$)' "$here/apt.txt")
if [[ ${#unknown[@]} -gt 0 ]]; then
  echo "[setup] distribution packages: none named ${unknown[*]} here; tests that need it are skipped"
fi
if [[ ${#missing[@]} -eq 0 ]]; then
  echo "[setup] distribution packages: $((count - ${#unknown[@]})) of $count installed, none missing"
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
