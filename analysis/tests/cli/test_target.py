# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where `strata convert` writes: nothing of the user's is replaced; tables are replaced whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from strata_command import strata

from strata.cli.convert import default_output
from strata.errors import OutputError, TraceError
from strata.export.parquet import write_parquet
from strata.export.target import CONTENTS, replacing
from strata.read import open_trace

Sample = Callable[[str], Path]


def fill(target: Path, *, name: str = "a.parquet", text: str = "new", force: bool = False) -> None:
    with replacing(target, force=force) as fresh:
        (fresh / name).write_text(text)
        document = {"format": "strata tables", "tables": {"a": {"file": name, "rows": 1}}}
        (fresh / CONTENTS).write_text(json.dumps(document))


def snapshot(directory: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else None
        for path in sorted(directory.rglob("*"))
    }


def test_what_was_written_is_marked_and_may_be_replaced(tmp_path: Path) -> None:
    fill(tmp_path / "out", name="old.parquet", text="old")
    fill(tmp_path / "out", force=True)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"a.parquet", CONTENTS}
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


def test_written_tables_stay_without_force(tmp_path: Path) -> None:
    fill(tmp_path / "out", text="old")
    with pytest.raises(OutputError, match="it already contains an export"):
        fill(tmp_path / "out")
    assert (tmp_path / "out/a.parquet").read_text() == "old"


def add_file(target: Path) -> str:
    (target / "notes.txt").write_text("precious")
    return "notes.txt"


def add_hidden_file(target: Path) -> str:
    (target / ".notes").write_text("precious")
    return ".notes"


def add_directory(target: Path) -> str:
    (target / "a.parquet").unlink()
    (target / "a.parquet").mkdir()
    (target / "a.parquet/data").write_text("precious")
    return "a.parquet"


def add_link(target: Path) -> str:
    (target / "a.parquet").unlink()
    (target / "a.parquet").symlink_to("/etc/hostname")
    return "a.parquet"


def drop_marker(target: Path) -> str:
    (target / CONTENTS).write_text('{"tables": {"a": {"file": "a.parquet"}}}')
    return "a.parquet"


def spoil_contents(target: Path) -> str:
    (target / CONTENTS).write_text("[1")
    return "a.parquet"


def only_contents(target: Path) -> str:
    shutil.rmtree(target)
    target.mkdir()
    (target / CONTENTS).write_text('["of another program"]')
    return CONTENTS


def strange_contents(target: Path) -> str:
    (target / CONTENTS).write_text('{"format": "strata tables", "tables": ["a.parquet"]}')
    return "a.parquet"


def pipe_as_contents(target: Path) -> str:
    (target / CONTENTS).unlink()
    os.mkfifo(target / CONTENTS)
    return "a.parquet"


@pytest.mark.parametrize(
    "change",
    [
        pipe_as_contents,
        add_file,
        add_hidden_file,
        add_directory,
        add_link,
        drop_marker,
        spoil_contents,
        only_contents,
        strange_contents,
    ],
)
@pytest.mark.parametrize("force", [False, True])
def test_a_directory_with_anything_of_the_users_is_never_replaced(
    tmp_path: Path, change: Callable[[Path], str], force: bool
) -> None:
    fill(tmp_path / "out", text="old")
    foreign = change(tmp_path / "out")
    before = snapshot(tmp_path)
    with pytest.raises(OutputError, match=rf"did not write \({foreign}"):
        fill(tmp_path / "out", force=force)
    assert snapshot(tmp_path) == before


def test_a_file_that_comes_during_the_conversion_is_kept(tmp_path: Path) -> None:
    fill(tmp_path / "out", text="old")
    with (
        pytest.raises(OutputError, match=r"did not write \(late\)"),
        replacing(tmp_path / "out", force=True),
    ):
        (tmp_path / "out/late").write_text("precious")
    assert (tmp_path / "out/late").read_text() == "precious"
    assert (tmp_path / "out/a.parquet").read_text() == "old"


def test_a_trace_with_a_tables_json_survives_force(own_sample: Sample) -> None:
    trace = own_sample("fast_throws")
    (trace / CONTENTS).write_text('{"format": "strata tables", "tables": {}}')
    run = strata("convert", trace, "-o", trace, "--force")
    assert run.returncode == 1
    assert "files that strata did not write" in run.stderr
    assert sum(map(len, open_trace(trace).tables().values())) == 7820


def test_the_current_directory_as_the_output(sample: Sample, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    before = place.stat().st_ino
    run = strata("convert", sample("fast_throws"), "-o", ".", cwd=place)
    assert run.returncode == 0, run.stderr
    # A shell that stands there sees the tables.
    assert place.stat().st_ino == before
    assert (place / CONTENTS).is_file()
    assert strata("convert", sample("fast_throws"), "-o", ".", "--force", cwd=place).returncode == 0
    assert (place / CONTENTS).is_file()
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("failing", ["a.parquet", "b.parquet", CONTENTS])
def test_a_failed_exchange_in_the_current_directory_puts_the_old_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    place = tmp_path / "place"
    fill(place, text="old")
    monkeypatch.chdir(place)
    before = snapshot(tmp_path)
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if (self.parent.name, self.name) == ("new", failing):
            raise OSError(5, "Input/output error", str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with (
        pytest.raises(OutputError, match="Input/output error"),
        replacing(Path(), force=True) as fresh,
    ):
        for name in ("a.parquet", "b.parquet", CONTENTS):
            (fresh / name).write_text("new")
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("there", [False, True])
def test_a_link_as_the_output_stays_one(tmp_path: Path, there: bool) -> None:
    real = tmp_path / "elsewhere/real"
    if there:
        fill(real, text="old")
    (tmp_path / "link").symlink_to(real)
    fill(tmp_path / "link", force=there)
    assert (tmp_path / "link").is_symlink()
    assert (real / "a.parquet").read_text() == "new"
    assert list(real.parent.iterdir()) == [real]


def test_links_that_lead_nowhere_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OutputError, match="Cannot write"):
        fill(tmp_path / "a")
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}


def test_the_directory_has_the_permissions_of_any_new_one(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        fill(tmp_path / "out")
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o750


def test_a_failure_in_the_block_keeps_the_old(tmp_path: Path) -> None:
    fill(tmp_path / "out", text="old")
    for error in (TraceError("Cannot read"), SystemExit(143), KeyboardInterrupt()):
        with pytest.raises(type(error)), replacing(tmp_path / "out", force=True) as fresh:
            (fresh / "half").write_text("half")
            raise error
        assert (tmp_path / "out/a.parquet").read_text() == "old"
        assert list(tmp_path.iterdir()) == [tmp_path / "out"]


def fail_renames(monkeypatch: pytest.MonkeyPatch, *sources: str) -> None:
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.name in sources:
            raise OSError(16, "Device or resource busy", str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)


def test_a_failed_exchange_puts_the_old_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "out", text="old")
    fail_renames(monkeypatch, "new")
    with pytest.raises(OutputError, match=r"Device or resource busy\. Name another place"):
        fill(tmp_path / "out", force=True)
    assert (tmp_path / "out/a.parquet").read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


def test_an_old_that_cannot_be_put_back_is_kept_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "out", text="old")
    fail_renames(monkeypatch, "new", "old")
    with pytest.raises(OutputError, match=r"could not all be restored\. It is in .*: move") as (
        caught
    ):
        fill(tmp_path / "out", force=True)
    kept = Path(str(caught.value).split("It is in ")[1].split(": move")[0])
    assert (kept / "a.parquet").read_text() == "old"


def test_no_space_is_said_once(tmp_path: Path) -> None:
    # What pyarrow says of it.
    text = "Error writing bytes to file. Detail: [errno 28] No space left on device"
    with (
        pytest.raises(OutputError) as caught,
        replacing(tmp_path / "out", force=False),
    ):
        raise OSError(28, text)
    assert str(caught.value) == (
        f"Cannot write {tmp_path}/out: No space left on device. Free space there, or name "
        "another place with -o."
    )


def test_a_place_below_a_file(sample: Sample, tmp_path: Path) -> None:
    (tmp_path / "afile").touch()
    run = strata("convert", sample("fast_throws"), "-o", tmp_path / "afile/x/y")
    assert run.returncode == 1
    assert run.stderr == (
        f"strata: Cannot write {tmp_path}/afile/x/y: {tmp_path}/afile is a file. "
        "Name another place with -o.\n"
    )


def test_a_place_that_may_not_be_read(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    trace = open_trace(sample("fast_throws"))
    monkeypatch.setattr(Path, "exists", refuse)
    with pytest.raises(OutputError, match=r"out: Permission denied\. Name another place with -o"):
        write_parquet(trace, tmp_path / "out")


def test_the_default_is_never_inside_the_trace(
    own_sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = own_sample("fast_throws") / "ust/ust/uid/0/64-bit"
    monkeypatch.chdir(trace)
    assert default_output(Path()) == trace.parent / "64-bit-tables"
    assert default_output(Path("../64-bit")) == trace.parent / "64-bit-tables"
    (tmp_path / "link").symlink_to(trace)
    assert default_output(tmp_path / "link") == trace.parent / "64-bit-tables"


def test_the_default_for_a_sessions_trace_is_in_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trace").mkdir()
    (tmp_path / "manifest.json").write_text("{}")
    assert default_output(tmp_path) == tmp_path / "tables"
    assert default_output(tmp_path / "trace") == tmp_path / "tables"
    monkeypatch.chdir(tmp_path / "trace")
    assert default_output(Path()) == tmp_path / "tables"
    monkeypatch.chdir(tmp_path)
    assert default_output(Path("trace")) == Path("tables")


def test_names_that_are_no_utf_8(own_sample: Sample, tmp_path: Path) -> None:
    trace = own_sample("fast_throws").rename(tmp_path / "by\udcffte")
    run = strata("convert", trace, "-o", tmp_path / "o\udcfft")
    assert run.returncode == 0, run.stderr
    assert f"Wrote {tmp_path}/o\ufffdt (7,820 events" in run.stdout
    contents = json.loads((tmp_path / "o\udcfft" / CONTENTS).read_text())
    assert contents["traces"][0]["directory"].startswith(f"{tmp_path}/by\ufffdte/ust")
    for verb in ("info", "analyze"):
        run = strata(verb, trace, "--format", "json")
        assert run.returncode == 0, run.stderr
        assert "by\\ufffdte" in run.stdout
        run = strata(verb, trace, columns=300)
        assert "by\ufffdte" in run.stdout
    run = strata("report", trace)
    assert run.returncode == 0, run.stderr
    assert ">by\ufffdte</h1>" in (trace / "report.html").read_text(encoding="utf-8")


def test_the_contents_tell_what_was_wanted_and_of_which_trace(
    sample: Sample, tmp_path: Path
) -> None:
    place = sample("fast_throws")
    assert strata("convert", place, "-o", tmp_path / "all").returncode == 0
    contents = json.loads((tmp_path / "all" / CONTENTS).read_text())
    assert contents["format"] == "strata tables"
    assert contents["events"] is None
    names = ("ros2:rmw_take", "ros2:rmw_publish", "ros2:rcl_lifecycle_state_machine_init")
    options = [word for name in names for word in ("--event", name)]
    run = strata("convert", place.name, "-o", tmp_path / "some", *options, cwd=place.parent)
    # The last is declared, and none was recorded.
    assert run.returncode == 0, run.stderr
    contents = json.loads((tmp_path / "some" / CONTENTS).read_text())
    assert contents["events"] == sorted(names)
    assert set(contents["tables"]) == set(names[:2])
    assert [item["directory"] for item in contents["traces"]] == [f"{place}/ust/ust/uid/0/64-bit"]
    assert contents["losses"] == []


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ("ros2:rmw_takes", r"Did you mean ros2:rmw_take"),
        ("take", r"Did you mean ros2:rcl_take, ros2:rclcpp_take or ros2:rmw_take"),
        ("xyzzy", r"`strata info` lists the events\."),
        ("", r"`strata info` lists the events\."),
    ],
)
def test_an_event_that_is_not_declared(
    sample: Sample, tmp_path: Path, event: str, text: str
) -> None:
    run = strata("convert", sample("fast_throws"), "-o", tmp_path / "out", "--event", event)
    assert run.returncode == 1
    assert f"Cannot convert event '{event}'" in run.stderr
    assert text.replace("\\", "") in run.stderr
    assert not list(tmp_path.iterdir())
