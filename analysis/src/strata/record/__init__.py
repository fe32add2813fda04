# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions: configuration, environment, LTTng control, manifest, doctor."""
