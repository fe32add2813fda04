# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The model of a trace whose events went by once, made of the engine's rows."""
