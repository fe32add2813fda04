# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata help`: every topic is listed, printed, and of one text with the site."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from strata.cli import topics
from strata.cli.main import strata


def _help(*arguments: str) -> str:
    result = CliRunner().invoke(strata, ["help", *arguments], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.output


def test_every_file_is_a_topic_and_is_listed_with_its_first_sentence() -> None:
    assert sorted(path.stem for path in topics.DIRECTORY.glob("*.md")) == sorted(topics.TOPICS)
    listed = " ".join(_help().split())
    for topic in topics.TOPICS:
        assert f"{topic} {topics.summary(topic)}" in listed


@pytest.mark.parametrize("topic", topics.TOPICS)
def test_a_topic_is_printed_in_80_columns_without_markup(topic: str) -> None:
    text = _help(topic)
    assert max(map(len, text.splitlines())) <= 80
    assert "](" not in text and "| ---" not in text
    words = re.findall(r"[a-z]{4,}", topics.text(topic).partition("\n")[2])
    assert set(words) <= set(re.findall(r"[a-z]{4,}", text))


def test_the_help_of_a_verb_is_that_of_the_verb() -> None:
    expected = CliRunner().invoke(strata, ["path", "--help"]).output
    assert _help("path").split() == expected.split()


def test_an_unknown_topic_names_a_similar_one() -> None:
    result = CliRunner().invoke(strata, ["help", "layer"])
    assert result.exit_code == 2
    assert "No such topic 'layer'. Did you mean layers?" in result.output
