# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs of nodes, executors and namespaces: their contents, layout and drawing."""
