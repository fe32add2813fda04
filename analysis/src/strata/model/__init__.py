# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the engine's rows mean: entities, executions, publications, takes, matched messages."""
