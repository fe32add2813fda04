#!/bin/sh
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# In new mount and pid namespaces: an LTTng of their own, then the command given.
set -e
mkdir -p /run/lttng
mount -t tmpfs none /run/lttng
mount -t tmpfs none /dev/shm
exec "$@"
