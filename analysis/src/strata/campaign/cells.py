# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From a campaign to its cells: every combination of levels, checked against its scenario."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from strata.campaign.load import LoadedCampaign
from strata.campaign.model import Quick, Study, level_names
from strata.campaign.setting_texts import as_setting
from strata.campaign.warm_up import all_warm_up
from strata.errors import CampaignError, ScenarioError, StrataError
from strata.scenario.expand import as_text
from strata.scenario.load import LoadedScenario, load_scenario, scenario_file

_ALL = "all"
"""The directory of a study without factors."""

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Cell:
    """One combination of levels with one repetition, from 1; it becomes one session.

    `changes` and `duration` are as `strata run --set` and `--duration` take them; `nominal_hz` is
    null where the study states none, `expected_s` where the scenario does not tell. `limit_s` is
    when its run is ended. `digest` is of all that decides what runs. `order` counts from 0.
    `hosts` are those of its scenario that are other machines (`--host`).
    """

    study: str
    levels: dict[str, str]
    repetition: int
    order: int
    scenario: str
    changes: dict[str, str]
    duration: str | None
    warm_up: int
    nominal_hz: float | None
    expected_s: float | None
    limit_s: float
    needs: list[str]
    digest: str
    skipped: str | None = None
    hosts: list[str] = field(default_factory=list)

    @property
    def group(self) -> str:
        """Name the cell without its repetition: `study/level+level`."""
        return _group(self.study, self.levels)

    @property
    def id(self) -> str:
        """Name the cell; this is its directory, too."""
        return f"{self.group}/r{self.repetition}"

    def as_json(self) -> dict[str, Any]:
        """Give the form of campaign.json."""
        return {"id": self.id, **asdict(self)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Cell:
        """Read that form; raises TypeError or KeyError when it is none."""
        return cls(**{key: value for key, value in document.items() if key != "id"})


@dataclass(frozen=True)
class Variant:
    """Which cells of a campaign: the quick ones or all; another number of repetitions; the seed.

    `durations` are those given in place of the file's, by `Cell.group`.
    """

    seed: int
    quick: bool = False
    repetitions: int | None = None
    durations: Mapping[str, str] = field(default_factory=dict)


def combinations(loaded: LoadedCampaign, study: str, *, quick: bool) -> Iterator[dict[str, str]]:
    """Give the combinations of levels of a study, by factor, in the file's order.

    Raises CampaignError when the quick variant is asked for and there is none.
    """
    campaign = loaded.campaign
    if quick and not campaign.quick:
        raise CampaignError(
            f"Cannot run the quick variant of campaign {loaded.name}: {loaded.file} has no "
            "`quick`. Leave --quick out."
        )
    reduced = campaign.quick[study] if quick else Quick()
    factors = campaign.studies[study].factors
    kept = {
        name: level_names(list(reduced.levels[name])) if name in reduced.levels else factor.names
        for name, factor in factors.items()
    }
    for levels in itertools.product(*kept.values()):
        combination = dict(zip(kept, levels, strict=True))
        if not reduced.only or any(_covers(only, combination) for only in reduced.only):
            yield combination


def expand(loaded: LoadedCampaign, variant: Variant) -> list[Cell]:
    """Give all cells, in the order in which they run; those that `except` names are skipped.

    Repetition by repetition, each in an order that the seed decides, so that each is complete
    before the next, and further ones change nothing of those before.

    Raises CampaignError, naming the file and the line, when a cell's scenario refuses what is set.
    """
    cells = []
    for name, study in loaded.campaign.studies.items():
        quick = loaded.campaign.quick.get(name, Quick()) if variant.quick else Quick()
        count = variant.repetitions or quick.repetitions or study.repetitions
        for levels in combinations(loaded, name, quick=variant.quick):
            plan = _Plan(loaded, name, study, quick, levels, variant.durations)
            first = plan.cell()
            plan.refuse_all_warm_up(first)
            cells += [replace(first, repetition=number) for number in range(1, count + 1)]
    return in_order(cells, variant.seed)


def in_order(cells: list[Cell], seed: int) -> list[Cell]:
    """Put cells into their random order, repetition by repetition."""
    ordered: list[Cell] = []
    for number in sorted({cell.repetition for cell in cells}):
        block = sorted(
            (cell for cell in cells if cell.repetition == number), key=lambda one: one.id
        )
        random.Random(f"{seed}/{number}").shuffle(block)
        ordered += block
    return [replace(cell, order=order) for order, cell in enumerate(ordered)]


def on_machines(cells: list[Cell], names: Collection[str]) -> list[Cell]:
    """Give the cells with these hosts on machines of their own, in place of namespaces of this one.

    Of cells whose scenario connects no hosts nothing changes. Raises CampaignError for a name that
    is no host of any cell, ScenarioError when a cell's scenario cannot be used.
    """
    hosts = {cell.group: set(_joined(cell)) & {*names} for cell in cells} if names else {}
    unknown = sorted({*names}.difference(*hosts.values()))
    if unknown:
        raise CampaignError(
            f"Cannot use --host {unknown[0]}: no cell of this campaign connects a host of that "
            "name. `strata scenarios NAME` shows the hosts of a scenario."
        )
    return [_on_machines(cell, hosts.get(cell.group, set())) for cell in cells]


def _joined(cell: Cell) -> list[str]:
    changes = tuple(cell.changes.items())
    return _loaded_scenario(cell.scenario, changes, cell.duration).scenario.hosts()


def _on_machines(cell: Cell, hosts: Collection[str]) -> Cell:
    if not hosts:
        return cell
    text = f"{cell.digest} {' '.join(sorted(hosts))}"
    return replace(
        cell,
        hosts=sorted(hosts),
        needs=[need for need in cell.needs if need != "namespaces"],
        digest=hashlib.sha256(text.encode()).hexdigest()[:16],
    )


def load_cell(cell: Cell) -> LoadedScenario:
    """Load the scenario of a cell, with its changes.

    Raises ScenarioError when it cannot be used (any more).
    """
    return load_scenario(cell.scenario, cell.changes, cell.duration)


def settings_at(
    loaded: LoadedCampaign, study: str, levels: Mapping[str, str]
) -> dict[str, bool | int | float | str]:
    """Give the settings, by name, of the scenario of a study's cells with these levels.

    Raises CampaignError or ScenarioError when the scenario cannot be used (any more).
    """
    plan = _Plan(loaded, study, loaded.campaign.studies[study], Quick(), levels, {})
    return dict(load_cell(plan.cell()).scenario.settings)


class _Plan:
    """One combination of levels of a study: what it changes, and where the file says so."""

    def __init__(
        self,
        loaded: LoadedCampaign,
        name: str,
        study: Study,
        quick: Quick,
        levels: Mapping[str, str],
        durations: Mapping[str, str],
    ) -> None:
        self._loaded, self._name, self._study, self._quick = loaded, name, study, quick
        self._levels = dict(levels)
        self._given = durations.get(_group(name, levels))
        self._stated = [(one, study.factors[one].level(level)) for one, level in levels.items()]

    def cell(self) -> Cell:
        study, quick = self._study, self._quick
        scenario, at = self._scenario()
        warm_up = _first(quick.warm_up, *(one.warm_up for _, one in self._stated))
        stated = self._duration()[0]
        text = stated if self._given is None else self._given
        changes = {key: one for key, (one, _) in self._changes().items()}
        loaded = self._load(scenario, at, changes, text)
        model = loaded.scenario
        return Cell(
            study=self._name,
            levels=self._levels,
            repetition=1,
            order=0,
            scenario=scenario,
            changes=changes,
            duration=text,
            warm_up=study.warm_up if warm_up is None else warm_up,
            nominal_hz=self._nominal(loaded),
            expected_s=model.duration.expected_s,
            limit_s=model.duration.longest_s,
            needs=list(dict.fromkeys(need for _, one in self._stated for need in one.needs)),
            digest=_digest(loaded),
            skipped=self._excluded(),
        )

    def refuse_all_warm_up(self, cell: Cell) -> None:
        """Raise CampaignError when a cell that runs has no message after its warm-up."""
        if cell.skipped:
            return
        loaded = _loaded_scenario(cell.scenario, tuple(cell.changes.items()), cell.duration)
        fact = all_warm_up(cell.warm_up, cell.nominal_hz, loaded.scenario.duration)
        if fact and self._given is not None:
            raise CampaignError(f"Cannot use --duration {self._given}: {fact}. Give a longer one.")
        if fact:
            raise self._refused(self._duration()[1], CampaignError(fact))

    def _scenario(self) -> tuple[str, Place]:
        name, place = self._study.scenario, (*self._here, "scenario")
        for factor, level in self._stated:
            if level.scenario:
                name, place = level.scenario, (*self._at(factor), "scenario")
        beside = self._loaded.file.parent / name
        for path in (beside, beside.with_name(f"{beside.name}.yaml")):
            found = scenario_file(path)
            # A campaign may have the name of the shipped scenario that it runs.
            if found is not None and not found.samefile(self._loaded.file):
                return str(path.resolve()), place
        return name, place

    def _duration(self) -> tuple[str | None, Place]:
        """Give the duration and the place that states it; the quick variant's wins."""
        # Two factors never set the same key: file_checks.py.
        stated = [
            (self._quick.duration, ("quick", self._name)),
            *((level.duration, self._at(factor)) for factor, level in self._stated),
            (self._study.duration, self._here),
        ]
        for duration, place in stated:
            if duration is not None:
                return as_text(duration), (*place, "duration")
        return None, (*self._here, "scenario")

    def _changes(self) -> dict[str, tuple[str, Place]]:
        """Give what is set, as text, each with the place that sets it; the nearest wins."""
        stated: list[tuple[Mapping[str, Any], Place]] = [
            (self._study.changes, (*self._here, "set")),
            (self._quick.changes, ("quick", self._name, "set")),
            *((level.changes, self._set_at(factor)) for factor, level in self._stated),
        ]
        return {
            key: (as_setting(key, value), (*place, key))
            for changes, place in stated
            for key, value in changes.items()
        }

    def _set_at(self, factor: str) -> Place:
        named = isinstance(self._study.factors[factor].levels, dict)
        return (*self._at(factor), "set") if named else (*self._here, "factors", factor, "levels")

    @property
    def _here(self) -> Place:
        return ("studies", self._name)

    def _at(self, factor: str) -> Place:
        return (*self._here, "factors", factor, "levels", self._levels[factor])

    def _load(
        self, scenario: str, at: Place, changes: dict[str, str], duration: str | None
    ) -> LoadedScenario:
        try:
            return _loaded_scenario(scenario, tuple(changes.items()), duration)
        except ScenarioError as error:
            if self._given is not None and self._loads(scenario, changes):
                raise CampaignError(f"Cannot use --duration {self._given}: {error}") from error
            place = self._culprit(scenario, at, changes)
            raise self._refused(place, error) from error

    def _loads(self, scenario: str, changes: dict[str, str]) -> bool:
        """Tell whether the scenario can be used with the duration that the file states."""
        try:
            _loaded_scenario(scenario, tuple(changes.items()), self._duration()[0])
        except ScenarioError:
            return False
        return True

    def _culprit(self, scenario: str, at: Place, changes: dict[str, str]) -> Place:
        """Find the place that the scenario refuses: what is set is added one by one."""
        places = {key: place for key, (_, place) in self._changes().items()}
        added: dict[str, str] = {}
        for key in [None, *changes]:
            if key is not None:
                added[key] = changes[key]
            try:
                _loaded_scenario(scenario, tuple(added.items()), None)
            except ScenarioError:
                return at if key is None else places[key]
        return self._duration()[1]

    def _refused(self, place: Place, error: StrataError) -> StrataError:
        chosen = ", ".join(f"{factor} {level}" for factor, level in self._levels.items())
        fact = f"{str(error).rstrip('.')} (in the cell of {chosen or 'the study'})"
        return self._loaded.refusal(place, fact)

    def _nominal(self, loaded: LoadedScenario) -> float | None:
        stated = self._study.nominal_hz
        if not isinstance(stated, str):
            return stated
        value = loaded.scenario.settings.get(stated)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        raise self._loaded.refusal(
            (*self._here, "nominal_hz"),
            f"'{stated}' is no setting of scenario {loaded.name} that is a number",
        )

    def _excluded(self) -> str | None:
        for one in self._study.exclusions:
            if one.covers(self._levels):
                return one.because
        return None


def _group(study: str, levels: Mapping[str, str]) -> str:
    return f"{study}/{'+'.join(levels.values()) or _ALL}"


def _covers(only: Mapping[str, Any], levels: Mapping[str, str]) -> bool:
    return all(levels[factor] in level_names(named) for factor, named in only.items())


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


_scenarios: dict[tuple[object, ...], LoadedScenario] = {}


def _loaded_scenario(
    name: str, changes: tuple[tuple[str, str], ...], duration: str | None
) -> LoadedScenario:
    """Load a scenario, once for the same changes while its file stays as it is."""
    file = scenario_file(Path(name))
    stamp = file.stat().st_mtime_ns if file else 0
    key = (name, stamp, changes, duration)
    if key not in _scenarios:
        _scenarios[key] = load_scenario(name, dict(changes), duration)
    return _scenarios[key]


def _digest(loaded: LoadedScenario) -> str:
    """Digest what decides of a run, but for defaults: later versions may have more of them."""
    document = loaded.scenario.model_dump(
        mode="json", exclude_defaults=True, exclude={"question", "description"}
    )
    text = json.dumps({"scenario": loaded.name, **document}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
