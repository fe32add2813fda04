# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Gates: what must hold of a trace, or of two, in plain words that are read strictly."""
