# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`python3 -m camera_pipeline.recorded < LINES`: the results of the image subscriber in C++.

Lines have fields separated by tabs, times being ns since the epoch: `topic NAME`,
`expected_fps HZ`, `csv PATH`, `summary PATH` (paths may be empty), then in order of arrival
`info AT STAMP` and `image AT STAMP SEQUENCE BYTES WIDTH HEIGHT STEP ENCODING`, and last
`end AT GAVE_UP`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from camera_pipeline.loss import SequenceLoss, StampLoss
from camera_pipeline.metrics import SECOND_NS, Image, Metrics, Window
from camera_pipeline.results import CsvRows, line, summary, write_summary


class Recording:
    """What a subscriber noted, measured as if it came now."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.settings: dict[str, str] = {}
        self.metrics: Metrics | None = None
        self._infos: list[int] = []

    def read(self, lines: Iterable[str]) -> Iterator[tuple[Window, float]]:
        """Measure; yields each window that ended, and its length in seconds."""
        for text in lines:
            key, *fields = text.rstrip("\n").split("\t")
            if key == "image":
                yield from self._image(fields)
            elif key == "info":
                yield from self._info(*map(int, fields))
            elif key == "end":
                yield from self._end(*map(int, fields))
            else:
                self.settings[key] = fields[0]

    def _image(self, fields: list[str]) -> Iterator[tuple[Window, float]]:
        at_ns, stamp_ns, sequence, size, width, height, step = map(int, fields[:-1])
        if self.metrics is None:
            # The middleware either numbers all publications or none.
            self.metrics = Metrics(SequenceLoss() if sequence else StampLoss())
            for info_ns in self._infos:
                self.metrics.add_info(info_ns)
        image = Image(
            at_ns, stamp_ns, sequence or None, size, width, height, step, encoding=fields[-1]
        )
        yield from ((window, 1.0) for window in self.metrics.add(image))

    def _info(self, at_ns: int, stamp_ns: int) -> Iterator[tuple[Window, float]]:
        if self.metrics is None:
            self._infos.append(stamp_ns)
            return
        yield from ((window, 1.0) for window in self.metrics.roll(at_ns))
        self.metrics.add_info(stamp_ns)

    def _end(self, at_ns: int, gave_up: int) -> Iterator[tuple[Window, float]]:
        if self.metrics is None:
            return
        yield from ((window, 1.0) for window in self.metrics.roll(at_ns))
        if gave_up:
            self.metrics.give_up()
        last_ns = self.metrics.arrivals_ns[-1]
        for window in self.metrics.finish():
            yield window, max(last_ns - window.begin_ns, 1) / SECOND_NS


def main() -> None:
    """Write the results of what standard input holds."""
    recording = Recording()
    windows = list(recording.read(sys.stdin))
    settings = recording.settings
    metrics = recording.metrics or Metrics(StampLoss())
    expected_fps = float(settings["expected_fps"])
    if settings["csv"]:
        rows = CsvRows(Path(settings["csv"]), expected_fps)
        for window, seconds in windows:
            rows.add(window, metrics.last, seconds)
        rows.close()
    if settings["summary"]:
        document = summary(metrics, settings["topic"], expected_fps)
        write_summary(Path(settings["summary"]), document)
    text = line(
        metrics.received,
        metrics.loss.lost,
        metrics.bytes_per_s,
        metrics.rate_hz,
        metrics.latencies_ns,
    )
    sys.stderr.write(f"image_subscriber: received {metrics.received} images, {text}\n")


if __name__ == "__main__":
    main()
