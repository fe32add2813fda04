# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chain instances as OpenTelemetry traces, in JSON lines: a TracesData of OTLP on each line.

That is what the collector's file exporter writes and its `otlpjsonfile` receiver reads. Ids are hex
digits, 64-bit numbers text, as OTLP's JSON has them:
https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict

from strata.export.chosen import Chosen
from strata.export.file_target import replacing_file
from strata.export.otlp_spans import Spans
from strata.export.written import Written

_IDS = ("traceId", "spanId", "parentSpanId")


def write(chosen: Chosen, target: Path, *, force: bool = False) -> Written:
    """Write the chosen chain instances to the file `target`. Raises OutputError."""
    spans = Spans(chosen)
    with replacing_file(target, chosen.choice.max_bytes, force=force) as file:
        for part in spans.batches():
            document = MessageToDict(part, use_integers_for_enums=True)
            for span in _spans_of(document):
                for ids in (span, *span.get("links", ())):
                    _write_ids_in_hex(ids)
            file.write(json.dumps(document, separators=(",", ":")).encode() + b"\n")
        size = file.size
    return Written(target, size, {"traces": spans.traces, "spans": spans.spans}, spans.notes)


def _spans_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        span
        for resource in document["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def _write_ids_in_hex(ids: dict[str, Any]) -> None:
    """Protobuf's own JSON has bytes in base64; OTLP's has ids in hex."""
    for name in _IDS:
        if name in ids:
            ids[name] = base64.b64decode(ids[name]).hex()
