# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From event tables to entities, callbacks, publications, takes and matched messages."""
