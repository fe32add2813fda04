# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Gates as JUnit XML, which CI systems read: a test case for each gate and subject."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from strata.comparison.amounts import subject_text
from strata.comparison.gates.judge import Judgement, Outcome
from strata.comparison.sides import Side
from strata.printable import printable
from strata.show.words.comparison import gates_text, outcome_text, sides_text

_SUITE = "strata compare"


def junit(judgements: Sequence[Judgement], a: Side | None, b: Side) -> str:
    """Return the document. A broken gate is a failure; one that passes undecided says so."""
    failures = sum(one.broken for one in judgements)
    counts = {"tests": str(len(judgements)), "failures": str(failures), "errors": "0"}
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(
        root, "testsuite", {"name": _SUITE, **counts, "skipped": "0", "time": "0"}
    )
    properties = ET.SubElement(suite, "properties")
    for letter, side in (("A", a), ("B", b)):
        if side is not None:
            _property(properties, letter, sides_text(side))
            for run in side.runs:
                _property(properties, f"{letter}.run", run.path)
                for text in run.losses:
                    _property(properties, f"{letter}.loss", text)
    for one in judgements:
        _case(suite, one)
    output = ET.SubElement(suite, "system-out")
    output.text = printable(gates_text(judgements))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ET.Element, judgement: Judgement) -> None:
    gate, subject = judgement.gate, judgement.subject
    of = f": {subject_text(subject)}" if subject is not None else ""
    place = f", {judgement.place}" if judgement.place else ""
    case = ET.SubElement(
        suite,
        "testcase",
        {
            "name": printable(f"{gate.name}{of}{place}"),
            "classname": f"strata.{gate.kind}",
            "time": "0",
        },
    )
    text = printable(outcome_text(judgement))
    if judgement.broken:
        found = {"message": text, "type": judgement.outcome.value}
        failure = ET.SubElement(case, "failure", found)
        failure.text = printable(f"{gate.condition}: {text}")
    elif judgement.outcome is not Outcome.HOLDS:
        ET.SubElement(case, "system-out").text = text


def _property(properties: ET.Element, name: str, value: str) -> None:
    ET.SubElement(properties, "property", {"name": name, "value": printable(value)})
