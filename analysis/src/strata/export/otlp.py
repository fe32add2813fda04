# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chain instances as OpenTelemetry traces, in protobuf: a message TracesData of OTLP.

It is written in parts, which together are one message: protobuf joins repeated fields of messages
that follow each other (https://protobuf.dev/programming-guides/encoding/#last-one-wins).
"""

from __future__ import annotations

from pathlib import Path

from strata.export.chosen import Chosen
from strata.export.file_target import replacing_file
from strata.export.otlp_spans import Spans
from strata.export.written import Written


def write(chosen: Chosen, target: Path, *, force: bool = False) -> Written:
    """Write the chosen chain instances to the file `target`. Raises OutputError."""
    spans = Spans(chosen)
    with replacing_file(target, chosen.choice.max_bytes, force=force) as file:
        for part in spans.batches():
            file.write(part.SerializeToString(deterministic=True))
        size = file.size
    return Written(target, size, {"traces": spans.traces, "spans": spans.spans}, spans.notes)
