#!/usr/bin/env bash
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# Measure how long a newcomer's machine takes from a bare Debian 12 to the end of the tutorial.
#
# usage: sudo docs/site/newcomer.sh DIRECTORY
#
# Makes a bare Debian 12 in DIRECTORY (debootstrap), with the apt and pip configuration of this machine, clones
# this repository into it, and runs the commands of docs/tutorial.md there in their order. The clock starts
# when the bare system is ready.
set -euo pipefail
repository=$(cd "$(dirname "$0")/../.." && pwd)
root=$(realpath -m "$1")
[[ ! -e $root ]] || { echo "$root exists: choose another directory" >&2; exit 1; }

mirror=$(awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
debootstrap --variant=minbase --include=ca-certificates bookworm "$root" ${mirror:+"$mirror"} >/dev/null
[[ -d /etc/apt/sources.list.d ]] && rm -f "$root/etc/apt/sources.list"
for place in /etc/apt /etc/ssl /etc/pip.conf /etc/resolv.conf /etc/hosts /usr/local/share/ca-certificates; do
  [[ -e $place ]] || continue
  mkdir -p "$root$(dirname "$place")" && cp -rL --remove-destination "$place" "$root$(dirname "$place")/"
done
for file in "${SSL_CERT_FILE:-}" "${PIP_CERT:-}"; do
  [[ -n $file && -f $file ]] && install -D "$file" "$root$file"
done
git -c safe.directory='*' clone --quiet --no-hardlinks "$repository" "$root/root/strata"

# Its own mounts, which end with it.
export repository root
unshare --mount --pid --fork bash -euo pipefail <<'INSIDE'
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs none "$root/dev/shm"
mount -t tmpfs none "$root/tmp"
inside() { chroot "$root" /usr/bin/env -C /root/strata HOME=/root bash -euo pipefail -c "$1"; }
begin=$SECONDS
echo "== apt-get install git make python3"
inside 'apt-get update -qq && apt-get install -y -qq --no-install-recommends git make python3 >/dev/null'
echo "== $((SECONDS - begin)) s"
inside 'python3 docs/site/commands.py docs/tutorial.md'
echo "== from a bare Debian 12 to the end of the tutorial: $((SECONDS - begin)) s"
INSIDE
