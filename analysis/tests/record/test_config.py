# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A session's YAML: what is accepted, and the exact words for what is not."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from strata.errors import SessionError
from strata.read.announced import ANNOUNCEMENTS
from strata.record.config import Channel, find_config, load_config
from strata.schema.events import CATALOGUE

_EVENTS = "events: {ust: ['ros2:*']}\n"
_TOP = "events, contexts, channel, buffers, driver_ports"
_CHANNEL = "subbuf_size, num_subbuf, switch_timer, read_timer, mode, output"

# The rest of the message after "Cannot use configuration FILE: ".
_REFUSED = {
    "": f"the document is empty, not a mapping. Write the keys {_TOP}.",
    "[1]": f"the document is a list, not a mapping. Write the keys {_TOP}.",
    "contexts: [vpid, vtid]": "key 'events': missing. Add it, with ust, kernel.",
    "events: ros2": "key 'events' is a text, not a mapping. Write the keys ust, kernel.",
    "events: {ust: []}": (
        "key 'events.ust': no event is listed. List at least one, as in `ust: [ros2:*]`."
    ),
    "events: {ust: ros2}": (
        "key 'events.ust': a text is not a list of names. Write `[NAME, NAME]`."
    ),
    "events: {ust: ['ros2 x']}": (
        "key 'events.ust': 'ros2 x' is not an event name. Write `provider:event` or a `*`."
    ),
    "events: {ust: [a:b, a:b]}": "key 'events.ust': 'a:b' is listed twice. List it once.",
    "events: {usd: [a:b]}": "unknown key 'events.usd'. Known here: ust, kernel.",
    f"{_EVENTS}bufers: per-uid": f"unknown key 'bufers'. Known here: {_TOP}.",
    f"{_EVENTS}buffers: per-cpu": (
        "key 'buffers': 'per-cpu' is not allowed. Use per-uid or per-pid."
    ),
    f"{_EVENTS}contexts: [vpid]": (
        "key 'contexts': vtid not listed, but needed to match messages. List vpid and vtid."
    ),
    f"{_EVENTS}channel: {{subbuf: 1M}}": (f"unknown key 'channel.subbuf'. Known here: {_CHANNEL}."),
    f"{_EVENTS}channel: {{subbuf_size: 1000000}}": (
        "key 'channel.subbuf_size': 1000000 bytes is not a power of two, which LTTng requires. "
        "Use 524288 or 1048576."
    ),
    f"{_EVENTS}channel: {{subbuf_size: 3M}}": (
        "key 'channel.subbuf_size': 3145728 bytes is not a power of two, which LTTng requires. "
        "Use 2097152 or 4194304."
    ),
    f"{_EVENTS}channel: {{subbuf_size: 2048}}": (
        "key 'channel.subbuf_size': 2048 bytes is less than 4096 bytes (one page). Make it larger."
    ),
    f"{_EVENTS}channel: {{subbuf_size: 1MiB}}": (
        "key 'channel.subbuf_size': '1MiB' is not a size. Write bytes, or as in 512k, 1M."
    ),
    f"{_EVENTS}channel: {{num_subbuf: 1}}": (
        "key 'channel.num_subbuf': 1 is less than 2. Make it larger."
    ),
    f"{_EVENTS}channel: {{num_subbuf: 6}}": (
        "key 'channel.num_subbuf': 6 is not a power of two, which LTTng requires. Use 4 or 8."
    ),
    f"{_EVENTS}channel: {{read_timer: -1}}": (
        "key 'channel.read_timer': '-1' is not a whole number of at least 0. Write a number."
    ),
    f"{_EVENTS}channel: {{switch_timer: yes}}": (
        "key 'channel.switch_timer': 'True' is not a whole number of at least 0. Write a number."
    ),
    f"{_EVENTS}channel: {{mode: drop}}": (
        "key 'channel.mode': 'drop' is not allowed. Use discard or overwrite."
    ),
    f"{_EVENTS}channel: {{output: splice}}": (
        "key 'channel.output': 'splice' is not allowed. Use mmap."
    ),
    f"{_EVENTS}driver_ports: 7502": (
        "key 'driver_ports': 7502 is not a list of ports. Write `[7502, 7503]`."
    ),
    f"{_EVENTS}driver_ports: [0]": (
        "key 'driver_ports': '0' is not a port. Write numbers from 1 to 65535."
    ),
    f"{_EVENTS}driver_ports: [9, 9]": "key 'driver_ports': 9 is listed twice. List it once.",
    f"{_EVENTS}channel: [1]": (
        f"key 'channel' is a list, not a mapping. Write the keys {_CHANNEL}."
    ),
}


@pytest.mark.parametrize("text", _REFUSED)
def test_refusals_name_the_file_and_the_key(tmp_path: Path, text: str) -> None:
    path = tmp_path / "my.yaml"
    path.write_text(text)
    with pytest.raises(SessionError) as caught:
        load_config(str(path))
    assert str(caught.value) == f"Cannot use configuration {path}: {_REFUSED[text]}"


def test_an_unknown_context_lists_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text(f"{_EVENTS}contexts: [vpid, vtid, threadname]")
    with pytest.raises(
        SessionError, match=r"'threadname' is not a context of LTTng-UST\. Known: cgroup"
    ):
        load_config(str(path))


def test_no_yaml_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text("events: {ust: [\n")
    with pytest.raises(SessionError, match=rf"Cannot read configuration {path}:2: not YAML: "):
        load_config(str(path))


def test_an_unknown_name_lists_the_shipped_ones() -> None:
    with pytest.raises(SessionError) as caught:
        load_config("ros3")
    assert "no such file, and no configuration of that name ships with Strata." in str(caught.value)
    assert "light" in str(caught.value)
    assert "ros2" in str(caught.value)


def test_a_file_of_the_working_directory_is_not_taken_for_a_shipped_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = find_config("full")
    for name in ("full", "mine", "mine.yaml", "mine.yml"):
        (tmp_path / name).write_text(_EVENTS)
    monkeypatch.chdir(tmp_path)
    assert find_config("full") == shipped
    assert find_config("./full") == tmp_path / "full"
    assert find_config("full.yaml") == shipped
    assert find_config("mine.yaml") == tmp_path / "mine.yaml"
    assert find_config("mine.yml") == tmp_path / "mine.yml"
    with pytest.raises(
        SessionError,
        match=r"no .* of that name ships with Strata, but there is a file .*\./mine for",
    ):
        find_config("mine")
    (tmp_path / "full.yaml").write_text(_EVENTS)
    assert find_config("full") == shipped
    assert find_config("full.yaml") == tmp_path / "full.yaml"


def test_what_is_left_out_has_defaults(tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text(_EVENTS)
    config = load_config(str(path))
    assert config.name == "my"
    assert config.channel == Channel()
    assert config.contexts == ("vpid", "vtid", "procname")
    assert (config.buffers, config.kernel) == ("per-uid", ())


def test_everything_can_be_said(tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text(
        "events: {ust: ['ros2:*', 'dds:write'], kernel: [sched_switch]}\n"
        "contexts: [vtid, vpid, 'perf:thread:cpu-cycles']\n"
        "channel: {subbuf_size: 256k, num_subbuf: 16, switch_timer: 1000000, read_timer: 0,\n"
        "          mode: overwrite, output: mmap}\n"
        "buffers: per-pid\n"
        "driver_ports: [9, 2368]\n"
    )
    config = load_config(str(path))
    assert config.as_json() == {
        "events": {"ust": ["ros2:*", "dds:write"], "kernel": ["sched_switch"]},
        "contexts": ["vtid", "vpid", "perf:thread:cpu-cycles"],
        "channel": {
            "subbuf_size": 262144,
            "num_subbuf": 16,
            "switch_timer": 1000000,
            "read_timer": 0,
            "mode": "overwrite",
            "output": "mmap",
        },
        "buffers": "per-pid",
        "driver_ports": [9, 2368],
    }
    assert config.channel.bytes_on(4) == 16 << 20


@pytest.mark.parametrize("name", ["ros2", "light", "full"])
def test_shipped_configurations_say_what_they_answer_and_cost(name: str) -> None:
    config = load_config(name)
    header = config.file.read_text().split("events:")[0]
    assert "Answers:" in header
    assert "Costs:" in header
    assert config.channel.subbuf_size == 1 << 20
    assert set(config.contexts) >= {"vpid", "vtid"}
    assert "ros2_statedump:*" in config.ust


def test_the_init_session_has_what_introduces_entities_and_nothing_else() -> None:
    config = load_config("init")

    def is_recorded(event: str) -> bool:
        return any(fnmatchcase(event, pattern) for pattern in config.ust)

    links = {name for name in ANNOUNCEMENTS if "message_link" in name}
    own = {name for name in CATALOGUE if is_recorded(name)}
    assert own - {"lttng_ust_statedump:procname"} == ANNOUNCEMENTS - links


def test_the_light_configuration_leaves_out_procname_and_the_executor() -> None:
    config = load_config("light")
    assert "procname" not in config.contexts
    assert not any("executor" in event for event in config.ust)
    assert "ros2:*" not in config.ust
