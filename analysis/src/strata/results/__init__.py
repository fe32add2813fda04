# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Results of a long recording, made chunk by chunk while it goes on."""
