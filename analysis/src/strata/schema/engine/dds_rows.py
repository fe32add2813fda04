# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of what the middleware did: samples, writes and reads."""

from __future__ import annotations

INT, SHORT, FLAG = "int64_t", "int32_t", "uint8_t"

_SAMPLE = ("sample", SHORT, "row of the samples")

DDS_ROWS = (
    (
        "samples",
        (
            ("writer", SHORT, "number of its writer's GUID among the bytes"),
            ("sequence", INT, "number that the writer gave it; 0: known by its stamp only"),
            ("stamp", INT, "source timestamp that its events gave first"),
            (
                "sample",
                SHORT,
                "this row; of one without a number the row that has it, null where it may be "
                "several samples",
            ),
        ),
        "Samples (writer, sequence number), or (writer, source timestamp) where an event has no "
        "number, in the order in which events named them.",
    ),
    (
        "writes",
        (
            ("serialize_begin_ns", INT, "the value began to be serialized"),
            ("serialize_end_ns", INT, "the value was serialized"),
            ("size_bytes", INT, "bytes that were made of it, or of a loan those in the history"),
            ("end_ns", INT, "the write returned"),
            _SAMPLE,
            ("lent", FLAG, "1: nothing was serialized"),
        ),
        "What became of each of the publishes within its write; none without events of the DDS "
        "hooks.",
    ),
    (
        "reads",
        (
            ("begin_ns", INT, "the DDS take was entered"),
            ("deserialize_begin_ns", INT, "bytes began to be deserialized"),
            ("deserialize_end_ns", INT, "bytes were deserialized"),
            ("made_ns", INT, "its reader was made known"),
            ("notified_ns", INT, "its reader was notified of the sample"),
            ("added_ns", INT, "the notifying thread had put the sample into a history last"),
            _SAMPLE,
            ("reader", SHORT, "number of its reader's GUID among the bytes"),
            ("notified_thread", SHORT, "row of the threads: that notified the reader"),
            ("unnumbered", FLAG, "1: the reader was notified of it without a sequence number"),
        ),
        "The DDS take of each of the takes; none without events of the DDS hooks.",
    ),
)
