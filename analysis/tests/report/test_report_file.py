# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the page is written, and where it is not; the command `strata report`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pytest
from bokeh.plotting import figure
from click.testing import CliRunner, Result
from made_analysis import nothing
from page_reader import read

from strata.cli.analyze import command as analyze_command
from strata.cli.report import command
from strata.errors import OutputError
from strata.show.html import write_report
from strata.show.html.embedding import figure_json


def report(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(item) for item in arguments])


def write(path: Path, *, force: bool = False) -> Path:
    return write_report(nothing(), path, title="made", force=force)


def test_the_file_is_written_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert write(path) == path
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    assert write(tmp_path / "report.html").stat().st_mode == other.stat().st_mode


def test_an_existing_file_stays_without_force(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("mine")
    with pytest.raises(OutputError, match=r"Cannot write .*report.html: the file exists.*--force"):
        write(path)
    assert path.read_text() == "mine"
    write(path, force=True)
    assert path.read_text() != "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_directory_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is no directory"):
        write(tmp_path / "absent" / "report.html")
    assert not list(tmp_path.iterdir())


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="it is a directory"):
        write(tmp_path, force=True)


def test_no_file_is_put_into_a_ctf_trace(tmp_path: Path) -> None:
    (tmp_path / "metadata").touch()
    with pytest.raises(OutputError, match="is a CTF trace"):
        write(tmp_path / "report.html")


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError, match="No space left on device"):
        write(tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


def test_the_report_goes_into_the_session(own_sample: Callable[[str], Path]) -> None:
    session = own_sample("fast_blocked_st")
    done = report(session)
    assert done.exit_code == 0, done.output
    assert done.stdout == f"Wrote {session / 'report.html'}\n"
    assert (
        '<h1 title="fast_blocked_st">fast_blocked_st</h1>' in (session / "report.html").read_text()
    )
    (session / "report.html").write_text("mine")
    again = report(session)
    assert isinstance(again.exception, OutputError)
    assert "--force" in str(again.exception)
    assert (session / "report.html").read_text() == "mine"
    assert report(session, "--force").exit_code == 0
    assert (
        '<h1 title="fast_blocked_st">fast_blocked_st</h1>' in (session / "report.html").read_text()
    )


def test_a_page_of_our_own_is_replaced_in_its_place_but_not_where_one_is_named(
    own_sample: Callable[[str], Path],
) -> None:
    session = own_sample("fast_blocked_st")
    page = session / "report.html"
    assert report(session).exit_code == 0
    first = page.stat().st_ino
    assert report(session).exit_code == 0
    assert page.stat().st_ino != first
    assert isinstance(report(session, "-o", page).exception, OutputError)


def test_no_link_is_followed_to_a_page(own_sample: Callable[[str], Path], tmp_path: Path) -> None:
    session = own_sample("fast_blocked_st")
    assert report(session).exit_code == 0
    page = (session / "report.html").rename(tmp_path / "kept.html")
    before = page.read_text()
    (session / "report.html").symlink_to(page)
    assert isinstance(report(session).exception, OutputError)
    assert report(session, "--force").exit_code == 0
    assert not (session / "report.html").is_symlink()
    assert page.read_text() == before


def test_the_report_of_a_sessions_trace_goes_into_the_session(
    own_sample: Callable[[str], Path], tmp_path: Path
) -> None:
    session = tmp_path / "session"
    session.mkdir()
    own_sample("fast_blocked_st").rename(session / "trace")
    (session / "manifest.json").write_text("{}")
    assert report(session / "trace").exit_code == 0
    assert '<h1 title="session">session</h1>' in (session / "report.html").read_text()


def test_output_names_another_file(sample: Callable[[str], Path], tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    done = report(sample("fast_blocked_st"), "-o", path)
    assert done.stdout == f"Wrote {path}\n"
    assert path.stat().st_size < 4_000_000


def test_a_chain_and_message_links_are_given_as_to_analyze(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    links, path = tmp_path / "links.yaml", tmp_path / "out.html"
    links.write_text(
        "links:\n- {node: /fusion, inputs: [/fast, /slow], outputs: [/fused], kind: periodic_async}"
    )
    done = report(sample("fast_fusion"), "-o", path, "--links", links, "--chain", "/slow -> /fused")
    assert done.exit_code == 0, done.output
    page = read(path.read_text())
    chains = [item for item in page.every("section") if "chain" in item.classes]
    assert len(chains) == 1
    assert "over /slow, /fused" in chains[0].words
    assert "stored: /slow in /fusion" in page.by_id("answer").words


def test_a_chain_that_is_not_there_leaves_no_page(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    path = tmp_path / "out.html"
    none = report(sample("fast_blocked_st"), "-o", path, "--chain", "/fast -> /slow")
    assert none.exit_code != 0
    assert "no message passed from each of these topics" in str(none.exception)
    wrong = report(sample("fast_blocked_st"), "-o", path, "--chain", "/fast ->")
    assert "is not a list of topics" in wrong.output
    assert not list(tmp_path.iterdir())


def test_the_options_read_as_those_of_analyze() -> None:
    def helps(of: click.Command) -> dict[str, str]:
        options = [item for item in of.params if isinstance(item, click.Option)]
        return {item.opts[0]: item.help or "" for item in options}

    own, theirs = helps(command), helps(analyze_command)
    for name in ("--chain", "--links"):
        assert own[name] == theirs[name] != ""


def test_a_ctf_trace_itself_needs_an_output(sample: Callable[[str], Path], tmp_path: Path) -> None:
    trace = next(sample("fast_blocked_st").rglob("metadata")).parent
    refused = report(trace)
    assert isinstance(refused.exception, OutputError)
    assert "Name a file with -o" in str(refused.exception)
    assert report(trace, "-o", tmp_path / "out.html").exit_code == 0


def test_no_trace_is_said_before_any_output(tmp_path: Path) -> None:
    absent = report(tmp_path / "absent")
    assert "there is no such directory" in str(absent.exception)
    empty = report(tmp_path)
    assert empty.exit_code != 0
    assert not list(tmp_path.iterdir())


def test_what_is_not_seen_is_in_no_page(own_sample: Callable[[str], Path], tmp_path: Path) -> None:
    # The direction's controls make "gpj.exe" out of "exe.jpg", also within an attribute.
    named = tmp_path / "a\u202egpj\u2066\u200b.exe"
    own_sample("fast_blocked_st").rename(named)
    page = tmp_path / "page.html"
    assert report(named, "-o", page).exit_code == 0
    text = page.read_text(encoding="utf-8")
    name = "a\ufffdgpj\ufffd\ufffd.exe"
    assert f'<h1 title="{name}">{name}</h1>' in text
    assert not set(text) & set("\u202e\u2066\u200b")


def test_what_is_not_seen_is_in_no_figure() -> None:
    plot = figure(title="a\u202eb\\u202ec")
    text = figure_json(plot, "place")
    assert '"a\\ufffdb\\\\u202ec"' in text
