# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Plan a campaign into a new directory, or go on in one: which cells, which of them skipped."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from strata.campaign.cells import Cell, Variant, expand, load_cell, on_machines
from strata.campaign.directory import (
    CampaignDirectory,
    check_campaign_directory,
    make_directory,
    open_directory,
)
from strata.campaign.load import LoadedCampaign
from strata.campaign.machine_requirements import Needs
from strata.campaign.middleware_variables import own_middleware
from strata.errors import CampaignError, StrataError
from strata.record.ros import Ros
from strata.scenario.remote_host import RemoteHost
from strata.scenario.running import check_run
from strata.scenario.several_machines import check_on_machines

_NAMED = 5
_LARGEST_SEED = 2**31


@dataclass(frozen=True)
class Asked:
    """What the user asked for; null for what was left open.

    `duration` is for the cells that `only` names, all without any. `hosts` are other machines.
    """

    quick: bool = False
    seed: int | None = None
    repetitions: int | None = None
    duration: str | None = None
    only: Sequence[str] = ()
    hosts: tuple[RemoteHost, ...] = ()


def plan_campaign(
    loaded: LoadedCampaign, path: Path, asked: Asked, ros: Ros, base: Mapping[str, str]
) -> CampaignDirectory:
    """Plan all cells of a campaign; nothing is written. `base` is the caller's environment, of
    which the cells do not inherit what chooses a middleware.

    Raises CampaignError when something of the file cannot be meant, or when the directory holds
    finished cells of another campaign, or of cells that changed since.
    """
    former = open_directory(path) if check_campaign_directory(path) else None
    variant = _same_variant(former, loaded, asked) if former else _new_variant(asked)
    names = [host.name for host in asked.hosts]
    cells = on_machines(expand(loaded, variant), names)
    if asked.duration is not None:
        chosen = dict.fromkeys(cell.group for cell in _chosen(loaded, cells, asked.only))
        given = {**variant.durations, **dict.fromkeys(chosen, asked.duration)}
        variant = replace(variant, durations=given)
        cells = on_machines(expand(loaded, variant), names)
    planned = make_directory(path, loaded, variant, cells)
    done = set()
    if former is not None:
        _refuse_changed(former, cells, asked)
        done = {cell.id for cell in former.cells if former.finished(cell)}
        kept = {key: former.document[key] for key in ("made_utc", "environments")}
        planned = replace(planned, document={**planned.document, **kept})
    skips = _Skips(asked.hosts, ros, own_middleware(base))
    return replace(planned, cells=skips.noted(cells, done))


def choose(directory: CampaignDirectory, only: Sequence[str]) -> list[Cell]:
    """Choose the cells that `--only` names, all without any.

    Each is STUDY, or STUDY/LEVEL with as many levels as needed (a cell's id too): `FACTOR=LEVEL`
    where two factors have a level of that name. Raises CampaignError for what names no cell.
    """
    return _chosen(directory.loaded, directory.cells, only)


def _chosen(loaded: LoadedCampaign, cells: list[Cell], only: Sequence[str]) -> list[Cell]:
    if not only:
        return cells
    chosen = [_Choice(loaded, text) for text in only]
    for choice in chosen:
        if not any(choice.covers(cell) for cell in cells):
            raise CampaignError(
                f"Cannot run --only {choice.text}: no cell of this campaign matches. "
                "--list shows the cells."
            )
    return [cell for cell in cells if any(one.covers(cell) for one in chosen)]


class _Choice:
    """One --only: a study, levels by factor, a repetition."""

    def __init__(self, loaded: LoadedCampaign, text: str) -> None:
        self.text = text
        self._study, *words = text.replace("+", "/").rstrip("/").split("/")
        self._repetition: int | None = None
        self._levels: dict[str, set[str]] = {}
        study = loaded.campaign.studies.get(self._study)
        if study is None:
            known = ", ".join(loaded.campaign.studies)
            raise self._refused(f"there is no study '{self._study}'", f"Use one of {known}")
        for word in words:
            if word[:1] == "r" and word[1:].isdigit():
                self._repetition = int(word[1:])
                continue
            factor, equals, level = word.rpartition("=")
            having = [
                name
                for name, one in study.factors.items()
                if level in one.names and (not equals or name == factor)
            ]
            if len(having) > 1:
                ways = " or ".join(f"{name}={level}" for name in having)
                raise self._refused(f"'{level}' is a level of several factors", f"Write {ways}")
            if not having:
                levels = (f"{name} ({', '.join(one.names)})" for name, one in study.factors.items())
                advice = f"The factors are {', '.join(levels)}"
                raise self._refused(f"study '{self._study}' has no level '{word}'", advice)
            self._levels.setdefault(having[0], set()).add(level)

    def covers(self, cell: Cell) -> bool:
        return (
            cell.study == self._study
            and self._repetition in (None, cell.repetition)
            and all(cell.levels[factor] in levels for factor, levels in self._levels.items())
        )

    def _refused(self, fact: str, advice: str) -> CampaignError:
        return CampaignError(f"Cannot run --only {self.text}: {fact}. {advice}.")


def _new_variant(asked: Asked) -> Variant:
    seed = random.SystemRandom().randrange(_LARGEST_SEED) if asked.seed is None else asked.seed
    return Variant(seed, asked.quick, asked.repetitions)


def _same_variant(former: CampaignDirectory, loaded: LoadedCampaign, asked: Asked) -> Variant:
    """Go on with what the directory was made with; refuse what contradicts it."""
    # One that was made for imports alone has no cells: nothing was begun.
    stored = former.variant if former.cells else _new_variant(asked)
    contradictions = {
        f"campaign {former.name}, not {loaded.name}": former.name != loaded.name,
        "the quick variant (--quick)": stored.quick and not asked.quick,
        "the whole variant, not the quick one": asked.quick and not stored.quick,
        f"seed {stored.seed}": asked.seed not in (None, stored.seed),
    }
    for what, contradicts in contradictions.items():
        if contradicts:
            raise CampaignError(
                f"Cannot continue in {former.path}: it was started with {what}. Use the same "
                "options, or choose another -o."
            )
    return replace(stored, repetitions=asked.repetitions or stored.repetitions)


def _refuse_changed(former: CampaignDirectory, cells: list[Cell], asked: Asked) -> None:
    """Refuse a file whose finished cells would not be what they are called any more."""
    now = {cell.id: cell for cell in cells}
    finished = [cell for cell in former.cells if former.finished(cell)]
    for cell in finished:
        hosts = now[cell.id].hosts if cell.id in now else cell.hosts
        if cell.hosts != hosts:
            how = " ".join(f"--host {name}=..." for name in cell.hosts) or "no --host"
            raise CampaignError(
                f"Cannot continue in {former.path}: cell {cell.id} ran with {how}. Use the same "
                "hosts, or choose another -o."
            )
    differ = [
        cell.id for cell in finished if cell.id not in now or now[cell.id].digest != cell.digest
    ]
    if differ:
        named = ", ".join(differ[:_NAMED]) + (" ..." if len(differ) > _NAMED else "")
        durations = {(one.duration, now[one.id].duration) for one in finished if one.id in now}
        if asked.duration is not None and any(before != after for before, after in durations):
            raise CampaignError(
                f"Cannot continue in {former.path} with --duration {asked.duration}: {len(differ)} "
                f"of {len(finished)} finished cells ran for another ({named}). Choose another -o, "
                "or leave these cells out by --only."
            )
        raise CampaignError(
            f"Cannot continue in {former.path}: the campaign or its scenarios have changed, and "
            f"{len(differ)} of {len(finished)} finished cells would now run differently ({named}). "
            "Choose another -o, or undo the change."
        )


class _Skips:
    """Why cells cannot run here."""

    def __init__(self, hosts: Sequence[RemoteHost], ros: Ros, base: Mapping[str, str]) -> None:
        self._hosts, self._ros, self._base = hosts, ros, base
        self._needs = Needs(ros.environment(base))

    def noted(self, cells: list[Cell], done: set[str]) -> list[Cell]:
        """Note the reasons; what is finished was not skipped, whatever is missing now."""
        reasons: dict[str, str | None] = {}
        for cell in cells:
            if cell.group not in reasons:
                reasons[cell.group] = cell.skipped or self._unmet(cell)
        return [
            replace(cell, skipped=None if cell.id in done else reasons[cell.group])
            for cell in cells
        ]

    def _unmet(self, cell: Cell) -> str | None:
        missing = [reason for need in cell.needs if (reason := self._needs.unmet(need))]
        if missing:
            return "; ".join(missing)
        hosts = [host for host in self._hosts if host.name in cell.hosts]
        try:
            if hosts:
                check_on_machines(load_cell(cell), hosts, ros=self._ros, base=self._base)
            else:
                check_run(load_cell(cell), ros=self._ros, base=self._base)
        except StrataError as error:
            return str(error)
        return None
