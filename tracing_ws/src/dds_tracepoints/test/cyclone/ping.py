# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A peer on the `cyclonedds` package: writes or takes values of the type of peer.idl.

usage: ping.py write|read COUNT FILE
`read` makes FILE when it knows the writer, which then begins. It prints what it got, a line each:
number, source timestamp, data in hexadecimal.
"""

# No `from __future__ import annotations`: the package needs the types themselves.
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.annotations import final
from cyclonedds.idl.types import sequence, uint8, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

PATIENCE_S = 60.0
TOPIC = "python"
ROLE, COUNT, KNOWN = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])


@final
@dataclass
class Ping(IdlStruct, typename="peer::Ping"):
    number: uint32
    data: sequence[uint8]


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def write(participant: DomainParticipant, topic: Topic[Ping], qos: Qos) -> None:
    writer = DataWriter(participant, topic, qos=qos)
    wait_until(lambda: writer.get_matched_subscriptions() and KNOWN.exists())
    for number in range(COUNT):
        writer.write(Ping(number, [number % 256, 1, 2, 3]))
        time.sleep(0.002)
    assert writer.wait_for_acks(duration(seconds=PATIENCE_S))


def read(participant: DomainParticipant, topic: Topic[Ping], qos: Qos) -> None:
    reader = DataReader(participant, topic, qos=qos)
    wait_until(reader.get_matched_publications)
    KNOWN.touch()
    taken = 0
    while taken < COUNT:
        # By both ways to take that the package has.
        for sample in reader.take(1) if taken % 2 else [reader.take_next()]:
            if sample is not None:
                taken += 1
                stamp = sample.sample_info.source_timestamp
                print(sample.number, stamp, bytes(sample.data).hex(), flush=True)
        time.sleep(0.001)
    # The writer, which goes first, has yet to hear that all has arrived.
    wait_until(lambda: not reader.get_matched_publications())


def main() -> int:
    qos = Qos(Policy.Reliability.Reliable(duration(seconds=PATIENCE_S)), Policy.History.KeepAll)
    participant = DomainParticipant()
    (write if ROLE == "write" else read)(participant, Topic(participant, TOPIC, Ping), qos)
    return 0


if __name__ == "__main__":
    sys.exit(main())
