# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which DDS hooks can bind: determined from the ELF files, before anything runs."""
