# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the C++ engine and Python share: declared here, and generated for C++ (`generate`)."""
