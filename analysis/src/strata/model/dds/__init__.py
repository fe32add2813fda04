# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the middleware did with the messages, from the events of the provider `dds`."""
