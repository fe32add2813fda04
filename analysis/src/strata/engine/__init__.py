# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From events to rows of what ended: runs the C++ engine over a trace, or event tables."""
