# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Files that cannot be read: which line, why, and what to do; and files that were cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from original_files import (
    GSCAM,
    GSCAM_SUMMARY,
    LATENCY_ALL,
    MS,
    NEWER,
    perf_lines,
    performance_log,
    performance_row,
    write,
)

from strata.errors import OriginalError
from strata.originals import FORMATS, read_original

STAMPS = perf_lines([(5 * MS, 0), (106 * MS, 100 * MS), (204 * MS, 200 * MS)])
LOG = performance_log(NEWER, [performance_row(NEWER, second) for second in (1, 2)])


def refusal(path: Path, form: str | None = None) -> str:
    with pytest.raises(OriginalError) as caught:
        read_original(path, form)
    text = str(caught.value)
    assert text.startswith(f"Cannot read {path}: ")
    assert text.endswith(".")
    return text


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("", "it is empty"),
        (" \n\n", "it is empty"),
        ("a,b\n1,2\n", "begins with 'a,b'"),
        ("recv_stamp,msg_stamp\n", "it has no messages"),
        (STAMPS.replace(",1587", ",x1587", 1), "line 2 has msg_stamp 'x1587228153000000000'"),
        (STAMPS + "1587228153000000000\n", "line 5 has 1 fields for 2 columns"),
        (STAMPS + "1,2,3\n", "line 5 has 3 fields"),
        (STAMPS + "nan,1587228153000000000\n", "line 5 has recv_stamp 'nan'"),
        (STAMPS + "1.5e18,1587228153000000000\n", "line 5 has recv_stamp '1.5e18'"),
        (STAMPS + "99999999999999999999,1\n", "line 5 has recv_stamp"),
        (STAMPS + "\0\0\0\n", "line 5 has a zero byte"),
        (LOG.replace("latency_max (ms)", "latency_top"), "has no column 'latency_max (ms)'"),
        (LOG.replace("0.25", "fast", 1), "line 19 has latency_mean (ms) 'fast'"),
        (LOG[: LOG.index("\n1.0") + 1], "it has no rows"),
        (LOG.replace("\t200,", "\t-200,", 1), "line 19 has received '-200', which is not a count"),
        (LOG.replace("\t200,", "\tinf,", 1), "line 19 has received 'inf', which is not a count"),
        (
            LOG.replace("0.25", "1_0", 1),
            "line 19 has latency_mean (ms) '1_0', which is not a number",
        ),
        (LOG.replace("T_loop", "received"), "column 'received' occurs twice"),
        (GSCAM + "2025,3840,2160,60,1,x,1,1,1,1\n", "line 5 has message_rate 'x'"),
        (GSCAM + "2025,3840,2160,60,1,nan,1,1,1,1\n", "line 5 has message_rate nan"),
        (GSCAM + "2025,1920,1080,60,1,1,1,1,1,1\n", "line 5 has another width than line 2"),
        (GSCAM_SUMMARY.replace("640x480", "VGA"), "line 2 has resolution 'VGA'"),
        (GSCAM.replace(",60,", ",29.97,"), "line 2 has fps '29.97', which is not a count"),
        (GSCAM_SUMMARY.replace("640x480", "9999999x480"), "has resolution '9999999x480'"),
        (LATENCY_ALL.replace("4300", "long"), "line 2 has max[us] 'long'"),
        (LATENCY_ALL.replace("36 ", "inf "), "line 2 has size[b] 'inf', which is not a count"),
        (
            LATENCY_ALL.replace("12000", "1e300"),
            "line 2 has received[#] '1e300', which is not a count",
        ),
        ("0.1\n0.2\nnan\n", "line 3 has latency 'nan'"),
        ("0.1\n1e308\n", "line 2 has latency '1e308', which is not finite"),
        (STAMPS + "-1,5\n", "line 5 has recv_stamp '-1'"),
        ("\x1c", "it is empty"),
        ('{"analysis_results": [', "is not JSON"),
        ('{"analysis": []}', "it has no list analysis_results"),
        ('{"analysis_results": []}', "it has no rows in analysis_results"),
        (json.dumps({"analysis_results": [{}]}), "analysis_results[0] has num_samples_received"),
        (
            json.dumps({"analysis_results": [{"num_samples_received": -1}]}),
            "-1, which is not a count",
        ),
    ],
)
def test_a_file_that_is_wrong_is_refused_by_its_line(tmp_path: Path, text: str, fact: str) -> None:
    assert fact in refusal(write(tmp_path / "file", text))


def test_what_is_no_file_or_no_text_is_refused(tmp_path: Path) -> None:
    assert "there is no such file" in refusal(tmp_path / "none")
    assert "it is a directory" in refusal(tmp_path)
    path = tmp_path / "latin"
    path.write_bytes(STAMPS.encode() + b"\xe9,1\n")
    assert "line 5 has a byte that is not UTF-8 (0xe9)" in refusal(path)


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "perf_node"])
def test_a_format_that_is_named_is_not_guessed(tmp_path: Path, form: str) -> None:
    refusal(write(tmp_path / "file", STAMPS), form)


@pytest.mark.parametrize("text", [STAMPS, LOG, GSCAM, GSCAM_SUMMARY, LATENCY_ALL])
@settings(max_examples=12)
@given(share=st.floats(0, 1))
def test_a_file_cut_anywhere_gives_its_whole_lines_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, text: str, share: float
) -> None:
    """Every value of a cut file is one of the whole file's: no half number is taken for one."""
    path = tmp_path_factory.mktemp("cut") / "file"
    whole = read_original(write(path, text))
    kept = text[: round(share * len(text))]
    try:
        part = read_original(write(path, kept))
    except OriginalError:
        return
    cut = not kept.endswith("\n")
    assert [finding.code for finding in part.findings].count("cut_line") == cut
    for mine, theirs in zip(part.runs, whole.runs, strict=False):
        each = mine.samples[~mine.samples["statistic"].isin(["run"])]
        known = theirs.samples.set_index(["measure", "statistic", "number"])["value"]
        for row in each.itertuples():
            assert known[(row.measure, row.statistic, row.number)] == row.value
