# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Write the seeds of the fuzzers: the odd traces and events below, and traces given by path.

python make_corpus.py [NAME=DIRECTORY ...]: of each directory the `metadata` and the beginning of
one stream file. As trace/NAME=DIRECTORY it is a seed of the whole way only, of two stream files.
The names of reproducers begin with `crash-`; those are kept as they are.
"""

from __future__ import annotations

import random
import struct
import sys
from pathlib import Path

from strata.schema.event import Event, Field, Kind
from strata.schema.events import CATALOGUE, EVENTS

CORPUS = Path(__file__).resolve().parent / "corpus"
MOST = 60 * 1024
STREAM_BYTES = 16384
PAIR_BYTES = 4096  # of each of two streams
LTTNG_SIZES = 48  # where LTTng's packets have their content size and packet size

# Without a packet header a file is one packet, and without an event header all events are of one
# class: any bytes are events then.
BARE = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = %s; }; stream { %s };\n"
U8 = "integer { size = 8; align = 8; signed = false; }"
U16 = "integer { size = 16; align = 8; }"

ODD: dict[str, tuple[str, str, str]] = {
    "bits": (
        "le",
        "",
        """event { name = "bits"; fields := struct {
  integer { size = 3; align = 1; } a; integer { size = 13; align = 1; signed = true; } b;
  integer { size = 1; align = 1; } c; integer { size = 63; align = 1; base = 16; } d;
  integer { size = 64; align = 1; } e; integer { size = 7; align = 4; signed = true; } f; }; };""",
    ),
    "bits_big": (
        "be",
        "",
        """event { name = "bits"; fields := struct {
  integer { size = 5; align = 1; } a; integer { size = 27; align = 1; } b;
  integer { size = 12; align = 8; signed = true; } c; integer { size = 64; align = 1; } d;
  integer { size = 32; align = 16; byte_order = le; } e; }; };""",
    ),
    "sequences": (
        "le",
        "",
        f"""event {{ name = "sequences"; fields := struct {{
  {U8} n; {U8} bytes[n]; {U16} m; integer {{ size = 4; align = 1; }} nibbles[n];
  integer {{ size = 8; align = 8; encoding = UTF8; }} text[n];
  integer {{ size = 8; align = 8; encoding = ASCII; }} fixed[17];
  struct {{ {U8} k; integer {{ size = 32; align = 32; signed = true; }} deep[k]; string s; }}
    pairs[n]; }}; }};""",
    ),
    "fast_lists": (
        "be",
        "",
        f"""event {{ name = "lists"; fields := struct {{
  {U8} n; integer {{ size = 16; align = 16; signed = true; }} shorts[n]; string s;
  floating_point {{ exp_dig = 8; mant_dig = 24; align = 32; }} f;
  floating_point {{ exp_dig = 11; mant_dig = 53; align = 8; }} g[3]; {U8} raw[5]; }}; }};""",
    ),
    "arrays": (
        "le",
        "",
        f"""event {{ name = "arrays"; fields := struct {{
  {U8} grid[3][2]; struct {{ }} nothing[9]; struct {{ string a; struct {{ {U8} x; }} b[2]; }} c[2];
  }} align(64); }};""",
    ),
    "variants": (
        "le",
        f"event.context := struct {{ {U8} kind; }};",
        f"""typealias enum : {U8} {{ A, B = 3, C = 5 ... 9, D = 200 ... 255, }} := choice;
event {{ name = "variants"; context := struct {{ choice outer; }}; fields := struct {{
  choice tag; variant <tag> {{ {U8} A; string B; struct {{ {U16} x; choice again;
    variant <again> {{ {U16} A; integer {{ size = 3; }} B; {U8} C[tag]; }} inner; }} C; }} v;
  variant <stream.event.context.kind> {{ {U8} A; }} w; }}; }};""".replace(
            "variant <stream.event.context.kind> { " + U8 + " A; } w; ",
            "variant <event.context.outer> { string A; " + U8 + " B; } w; ",
        ),
    ),
    "enums": (
        "le",
        "",
        """typedef enum : integer { size = 3; align = 1; signed = true; } { N = -4 ... -1, Z, P }
  sign;
event { name = "enums"; fields := struct { sign s;
  enum : integer { size = 64; align = 8; } { BIG = 18446744073709551615, "a b" = 1 } b;
  struct { sign t[4]; } u; }; };""",
    ),
    "headers": (
        "le",
        f"""packet.context := struct {{ {U8} level; string where; {U8} n; {U8} list[n]; }};
  event.header := struct {{ {U8} id; integer {{ size = 8; align = 8; map = clock.c.value; }} t; }};
  event.context := struct {{ string task; }};""",
        f"""event {{ id = 0; name = "same"; fields := struct {{ {U8} a; string b; }}; }};
event {{ id = 1; name = "same"; fields := struct {{ {U8} a; string b; }}; }};
event {{ id = 2; name = "other"; fields := struct {{ {U8} seq[stream.packet.context.n]; }}; }};
event {{ id = 3; name = "empty"; fields := struct {{ }}; }};""",
    ),
    "nothing": (
        "le",
        "",
        """event { name = "nothing"; fields := struct { integer { size = 1; align = 1; } bit;
  struct { } none[500000]; }; };""",
    ),
}

CLOCK = "clock { name = c; freq = 1000003; offset_s = 1700000000; offset = 5; };\n"


def odd_metadata(name: str) -> bytes:
    """Return the text of an odd trace."""
    order, stream, events = ODD[name]
    text = BARE % (order, stream)
    if "clock.c" in stream:
        text = text.replace(" stream {", "\n" + CLOCK + "stream {")
    return (text + events + "\n").encode()


# Streams whose events must be right, or they end at once.
STREAMS = {
    "variants": "01 00 00 07 61 62 00  01 03 03 68 69 00 09  02 03 05 01 00 00 02 00 09"
    "01 00 09 01 00 05 01 02 03 04 05 06 07 08 09 00  01 00 04",
    "headers": "09 68 C3 A9 00 02 05 06  00 F0 74 00 01 62 00  01 F8 00 02 00  02 02 75 00 01 02"
    "03 02 74 00  00 01 00 FF 62 00  04 04",
    "nothing": "00" * 65536,
}


def odd_stream(name: str) -> bytes:
    """Mostly small numbers: few counts and selectors are out of range."""
    if name in STREAMS:
        return bytes.fromhex(STREAMS[name])[:STREAM_BYTES]
    chance = random.Random(name)
    small = [chance.choice([0, 0, 1, 2, 3, 5, 65, 66, chance.randrange(256)]) for _ in range(600)]
    return bytes(small)


def beginning(stream: bytes, most: int = STREAM_BYTES) -> bytes:
    """Return the beginning of a stream of LTTng: of a packet that is cut, its sizes are."""
    if len(stream) <= most or stream[:4] != bytes.fromhex("C11FFCC1"):
        return stream[:most]
    content, packet = struct.unpack_from("<QQ", stream, LTTNG_SIZES)
    if packet <= most * 8:
        return stream[:most]
    sizes = struct.pack("<QQ", min(content, most * 8), most * 8)
    return stream[:LTTNG_SIZES] + sizes + stream[LTTNG_SIZES + len(sizes) : most]


def put(name: str, metadata: bytes, stream: bytes) -> None:
    """Write both seeds, as far as they are small."""
    if len(metadata) <= MOST:
        (CORPUS / "metadata" / name).write_bytes(metadata)
    packets = struct.pack("<I", len(metadata)) + metadata + stream
    if stream and len(packets) <= MOST:
        (CORPUS / "packets" / name).write_bytes(packets)


def put_trace(name: str, metadata: bytes, streams: list[bytes], at_once: int = 7) -> None:
    """Write a seed of the whole way: one or two streams, of which some events are read at once."""
    first, *second = streams
    head = struct.pack("<BHI", at_once - 1, len(first) if second else 0, len(metadata))
    (CORPUS / "trace" / name).write_bytes(head + metadata + b"".join(streams))


SETS = {
    "any": tuple(EVENTS),
    "ros2": tuple(event for event in EVENTS if event.provider == "ros2"),
    "dds": tuple(event for event in EVENTS if event.provider in ("ros2", "dds")),
    "driver": tuple(event for event in EVENTS if event.provider in ("ros2", "driver")),
    "kernel": tuple(event for event in EVENTS if not event.provider),
    "work": tuple(
        CATALOGUE[name]
        for name in (
            "ros2:callback_start",
            "ros2:callback_end",
            "ros2:rclcpp_executor_wait_for_work",
            "ros2:rclcpp_executor_get_next_ready",
            "ros2:rclcpp_executor_execute",
            "ros2:rmw_take",
            "ros2:rmw_publish",
            "rclpy:callback_suspend",
            "rclpy:callback_resume",
        )
    ),
}
"""What the events of the engine's seeds are of (fuzz_engine.cpp says what its bytes mean)."""


def event_bytes(event: Event, place: int, values: list[int], step: int = 1) -> bytes:
    """Return an event of the engine's fuzzer."""
    return bytes([EVENTS.index(event), step, place, *values])


def events_of(name: str) -> bytes:
    """Return events of a set: few places and values, so that events meet."""
    chance = random.Random(name)
    out = bytes([chance.choice([0, 0, 1])]) + bytes(2)
    for _ in range(120):
        event = chance.choice(SETS[name])
        values = [chance.choice([0, 1, 1, 2, 201, 202, 226, 255]) for _ in event.fields]
        out += event_bytes(event, chance.choice([1, 2, 3, 11]), values, chance.choice([0, 1, 130]))
    return out


def late_events() -> bytes:
    """Return events of all sets, some of them late, for two engines that are compared.

    Hosts share a clock, a process is left out, a namespace has a host, and there is a restart.
    """
    chance = random.Random("late")
    out = bytes([0b1011_1100, 3, 195, 0])
    every = [event for events in SETS.values() for event in events]
    for _ in range(300):
        event = chance.choice(every)
        values = [chance.choice([0, 1, 1, 2, 201, 202, 226, 255]) for _ in event.fields]
        step = chance.choice([0, 0, 1, 2, 193, 194, 250, 251])
        out += event_bytes(event, chance.choice([1, 2, 3, 11, 130]), values, step)
    return out


def nested(count: int) -> bytes:
    """Return callbacks of `count` addresses that begin within each other, and end in that order."""
    out = b"\x00"
    for name, fields in (("ros2:callback_start", 1), ("ros2:callback_end", 0)):
        for address in range(count):
            values = [250, *struct.pack(">q", address)] + [0] * fields
            out += event_bytes(CATALOGUE[name], 1, values)
    return out


# Values are of a byte each, so that events meet whatever the bytes are.
MADE = """/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := u8;
typealias integer {{ size = 8; align = 8; signed = true; }} := s8;
typealias integer {{ size = 16; align = 8; signed = false; }} := u16;
typealias integer {{ size = 8; align = 8; encoding = UTF8; }} := letter;
trace {{ major = 1; minor = 8; byte_order = le; }};
clock {{ name = c; freq = 1000000000; offset_s = 1700000000; }};
stream {{
  event.header := struct {{
    u8 id; integer {{ size = {clock}; align = 8; map = clock.c.value; }} t;
  }};
  event.context := struct {{ u8 _vpid; u8 _vtid; u8 _pid_ns; letter _procname[16]; }};
}};
"""
MEMBERS = {
    Kind.STRING: "string _{0};",
    Kind.BYTES: "u8 __{0}_length; u8 _{0}[ __{0}_length ];",
    Kind.HANDLES: "u8 __{0}_length; u16 _{0}[ __{0}_length ];",
    Kind.INT: "s8 _{0};",
}


def made_metadata(events: tuple[Event, ...], clock: int) -> bytes:
    """Return metadata of events of the catalogue; by a clock of 64 bits their time may go back."""
    text = MADE.format(clock=clock)
    for number, event in enumerate(events):
        members = " ".join(MEMBERS.get(of.kind, "u8 _{0};").format(of.name) for of in event.fields)
        text += f'event {{ id = {number}; name = "{event.full_name}";\n'
        text += f"  fields := struct {{ {members} }}; }};\n"
    return text.encode()


def made_value(field: Field, chance: random.Random) -> bytes:
    """Return the bytes of a field: one of few values."""
    if field.kind is Kind.STRING:
        return chance.choice([b"", b"a", b"/t"]) + b"\0"
    if field.kind in (Kind.BYTES, Kind.HANDLES):
        count = chance.choice([0, 1, 16])
        size = count if field.kind is Kind.BYTES else 2 * count
        return bytes([count, *(chance.choice([0, 1, 2]) for _ in range(size))])
    return bytes([chance.choice([0, 1, 1, 2, 3, 255])])


def made_event(
    number: int, ns: int, clock: int, place: tuple[int, int, int], name: bytes, values: bytes
) -> bytes:
    """Return an event at a time, of (process, thread, namespace of process ids)."""
    time = (ns % (1 << clock)).to_bytes(clock // 8, "little")
    return bytes([number]) + time + bytes(place) + name.ljust(16, b"\0") + values


def made_stream(
    chance: random.Random, events: tuple[Event, ...], clock: int, steps: tuple[int, ...]
) -> bytes:
    """Return events with few values, places and names."""
    out, ns = b"", 1000
    for _ in range(60):
        number = chance.randrange(len(events))
        ns = max(0, ns + chance.choice(steps))
        place = chance.choice([(1, 1, 1), (1, 1, 1), (1, 2, 1), (3, 3, 1), (1, 1, 2)])
        values = b"".join(made_value(of, chance) for of in events[number].fields)
        out += made_event(number, ns, clock, place, chance.choice([b"a", b"a", b"b"]), values)
    return out


LIVES = ("ros2:rcl_init", "ros2:callback_start", "ros2:callback_start", "ros2:callback_end")


def lives() -> bytes:
    """Return what four processes did that had one id one after the other; some events come late."""
    chance = random.Random("lives")
    numbers = {event.full_name: number for number, event in enumerate(SETS["ros2"])}
    out = b""
    for life in range(4):
        for step, name in enumerate(LIVES):
            event = CATALOGUE[name]
            ns = 1000 + 100 * life + (20 if step == 3 else 10 * step)
            values = b"".join(
                f"{life}".encode() + b"\0" if of.name == "version" else made_value(of, chance)
                for of in event.fields
            )
            out += made_event(numbers[name], ns - 15 * (step == 2), 64, (3, 3, 1), b"a", values)
    return out


def put_made() -> None:
    """Write the made traces of the whole way: in order, late, and of ids that change hands."""
    for name, events in SETS.items():
        chance = random.Random(name)
        streams = [made_stream(chance, events, 8, (0, 1, 3)) for _ in range(2)]
        put_trace(name, made_metadata(events, 8), streams)
    for name in ("ros2", "dds"):
        chance = random.Random(f"late {name}")
        steps = (0, 0, 1, 2, 5, -1, -3, -50)
        streams = [made_stream(chance, SETS[name], 64, steps) for _ in range(2)]
        put_trace(f"late_{name}", made_metadata(SETS[name], 64), streams)
    put_trace("lives", made_metadata(SETS["ros2"], 64), [lives()], 1)


def main() -> None:
    """Write the odd traces and those of the command line."""
    for kind in ("metadata", "packets", "engine", "trace"):
        (CORPUS / kind).mkdir(parents=True, exist_ok=True)
    for name in SETS:
        (CORPUS / "engine" / name).write_bytes(events_of(name))
    (CORPUS / "engine" / "late").write_bytes(late_events())
    for count in (20, 500):
        (CORPUS / "engine" / f"nested_{count}").write_bytes(nested(count))
    put_made()
    for name in ODD:
        put(name, odd_metadata(name), odd_stream(name))
    for argument in sys.argv[1:]:
        name, _, directory = argument.partition("=")
        metadata = (Path(directory) / "metadata").read_bytes()
        paths = sorted(Path(directory).iterdir())
        streams = [
            path.read_bytes() for path in paths if path.is_file() and path.name != "metadata"
        ]
        if name.startswith("trace/"):
            pair = [beginning(stream, PAIR_BYTES) for stream in streams[:2]]
            put_trace(name.removeprefix("trace/"), metadata, pair)
        else:
            put(name, metadata, beginning(streams[-1]) if streams else b"")


if __name__ == "__main__":
    main()
