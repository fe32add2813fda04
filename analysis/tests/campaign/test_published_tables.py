# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of an original's printed figures beside ours, and of its errors."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from measured_campaign import RELAY, made, make_campaign

from strata.campaign.load import load_campaign
from strata.record.places import project_root
from strata.study.campaign_results import Results
from strata.study.long_frames import long_frame
from strata.study.tables import printed_figures

PUBLISHED = Path(str(project_root())) / "trace_configs" / "campaigns" / "published"


def test_published_figures_stand_beside_ours_as_another_machines(lidar: Results) -> None:
    table = made(lidar, "test_cases", "published", file="ouster-test-cases.csv")
    assert any("another machine: a laptop" in note for note in table.notes)
    row = table.frame.set_index(["test_case", "measure", "statistic"])
    least = row.loc[("tc2", "period", "min")]
    assert (least["printed"], least["right"]) == ("81.97", "81.976")
    period = long_frame(lidar, "test_cases", "period")["value"]
    assert np.isclose(least["here"], period.min() / 1e6)
    assert pd.isna(row.loc[("tc3", "period", "min"), "here"])
    assert row.loc[("tc3", "stamp_latency", "p50"), "printed"] == "131.483"


def test_a_relays_published_figures_are_in_its_own_unit(relay: Results) -> None:
    frame = made(relay, "chains", "published", file="relay.csv").frame
    row = frame.set_index(["rate", "executor", "statistic"]).loc[("100.0", "single", "p50")]
    assert row["printed"] == "52"
    own = long_frame(relay, "chains", "hop_latency", where={"executor": "single"})
    assert np.isclose(row["here"], own["value"].median() / 1e3)


def test_figures_beside_those_of_another_client_library_say_so(
    relay: Results, lidar: Results
) -> None:
    table = made(relay, "chains", "published", file="relay.csv")
    assert table.notes[0] == (
        "Printed figures are of another machine: another, its nodes in rclcpp. Ours are of rclpy, "
        "the printed ones of rclcpp: they differ by the client library, too."
    )
    texts = {column.name: column.text for column in table.columns}
    assert texts["here"] == "this machine, rclpy"
    # One that does not say what its nodes were is not said to be of another.
    unknown = made(lidar, "test_cases", "published", file="ouster-test-cases.csv")
    assert "differ by the client" not in " ".join(unknown.notes)


def test_a_chain_divided_by_its_hops_is_the_originals_and_named_so(relay: Results) -> None:
    asked = {"file": "relay.csv", "of": "hop_latency", "rows": ["executor", "rate"]}
    table = made(relay, "chains", "published", **asked)
    assert [column.label for column in table.columns] == [
        "executor",
        "rate",
        "statistic",
        "printed",
        "printed, Ryzen 5975WX",
        "printed, AGX Orin",
        "hop, here",
        "chain, here",
        "chain / 2, the original's definition",
        "n here",
    ]
    assert table.title == "as published (another machine), hop latency, us: The original"
    row = table.frame.set_index(["executor", "rate", "statistic"]).loc[("single", "100.0", "p90")]
    chain = long_frame(relay, "chains", "latency", where={"executor": "single"})["value"]
    assert np.isclose(row["further_0"], chain.quantile(0.9) / 1e3)
    assert np.isclose(row["further_1"], chain.quantile(0.9) / 1e3 / 2)
    other = made(relay, "chains", "published", file="relay.csv", of="latency")
    assert other.empty == "relay.csv has no latency: it has hop latency, request latency"
    assert made(relay, "chains", "published", file="relay.csv", rows="rate").frame.shape == (21, 6)


def test_published_figures_stand_alone_where_nothing_ran(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    asked = {"file": "relay.csv", "of": "hop_latency", "rows": ["executor", "rate"]}
    for place, sessions in (("none", {}), ("other", {"qos/": sample("cell_relay")})):
        (tmp_path / place).mkdir()
        results = make_campaign(tmp_path / place, RELAY, sessions)
        table = made(results, "chains", "published", **asked)
        assert set(table.frame["printed"].dropna()) >= {"52", "818"}
        assert table.frame["here"].isna().all()


CAMERA_LIKE = """\
question: Does a loss beside a shortfall have its name?
original: {title: an original, machine: a laptop}
studies:
  middleware:
    question: What is lost?
    scenario: relay_one_process
    nominal_hz: 200
    measured: {topic: /chain_1}
    factors:
      configuration: {levels: {480p15: {}}}
      middleware: {levels: {zenoh: {}}}
"""


def test_an_originals_loss_stands_beside_our_shortfall(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    results = make_campaign(tmp_path, CAMERA_LIKE, {"middleware/": sample("cell_relay")})
    asked = {"file": "camera-rmw.csv", "of": "shortfall"}
    table = made(results, "middleware", "published", **asked)
    row = table.frame[table.frame["middleware"] == "zenoh"].iloc[0]
    short = long_frame(results, "middleware", "shortfall")["value"].mean()
    assert (row["printed"], row["here"], row["further_0"]) == ("0.00", short, 0.0)
    assert short > 1
    assert [one.label for one in table.columns if one.name == "further_0"] == ["loss, here"]
    rates = made(results, "middleware", "published", **{**asked, "of": "throughput"})
    here = long_frame(results, "middleware", "throughput")["value"].mean()
    assert "throughput, mean, MiB/s" in rates.title
    assert np.isclose(rates.frame["here"].dropna(), here * 1e6 / 2**20)


def test_a_level_that_names_its_transport_has_the_figures_printed_without_it(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    text = CAMERA_LIKE.replace("{zenoh: {}}", "{zenoh_shm_512m: {also: [zenoh]}}")
    results = make_campaign(tmp_path, text, {"middleware/": sample("cell_relay")})
    table = made(results, "middleware", "published", file="camera-rmw.csv", of="shortfall")
    row = table.frame.set_index(["middleware", "configuration"])
    assert row.loc[("zenoh_shm_512m", "480p15"), "printed"] == "0.00"
    assert row.loc[("zenoh_shm_512m", "480p15"), "here"] > 1
    assert "zenoh" not in set(table.frame["middleware"])


def test_every_level_of_a_shipped_middleware_names_its_transport() -> None:
    for path in PUBLISHED.parent.glob("*.yaml"):
        for study in load_campaign(path.stem).campaign.studies.values():
            for factor in ("middleware", "transport"):
                if factor in study.factors:
                    assert not {"cyclonedds", "zenoh"} & set(study.factors[factor].names)


def test_the_table_of_pools_is_that_of_the_study() -> None:
    figures = printed_figures.camera_pools(PUBLISHED / "camera-pools.csv")
    pools = load_campaign("camera").campaign.studies["pools"]
    for name in figures.factors:
        assert set(figures.frame[name]) <= set(pools.factors[name].names)
    printed = figures.frame.set_index(["configuration", "pool"])["printed"]
    assert printed[("2160p60", "zenoh_256m")] == "17.69"
    # The main table is the run of 512 MB.
    main = printed_figures.camera_rmw(PUBLISHED / "camera-rmw.csv").frame
    zenoh = main[(main["middleware"] == "zenoh") & (main["measure"] == "shortfall")]
    of_main = zenoh.set_index("configuration")["printed"]
    for configuration in ("2160p45", "2160p60"):
        assert printed[(configuration, "zenoh_512m")] == of_main[configuration]


def test_a_published_file_of_other_factors_is_shown_as_it_is(relay: Results) -> None:
    table = made(relay, "qos", "published", file="relay.csv")
    assert table.frame.shape == (21, 6)
    missing = made(relay, "qos", "published", file="none.csv")
    assert "none.csv is neither beside" in missing.empty


def test_a_published_file_of_other_columns_is_shown_as_it_is(relay: Results) -> None:
    place = Path(str(relay.directory.document["file"])).parent / "published"
    place.mkdir()
    try:
        (place / "relay.csv").write_text("executor,rate_hz,p50_us\nmulti,10,818\n")
        table = made(relay, "chains", "published", of="latency", file="relay.csv")
        assert table.frame.to_dict("records") == [
            {"executor": "multi", "rate_hz": "10", "p50_us": "818"}
        ]
    finally:
        shutil.rmtree(place)


def test_every_wrong_digit_has_a_printed_figure() -> None:
    printed = printed_figures.ouster_test_cases(PUBLISHED / "ouster-test-cases.csv").frame
    wrong = pd.read_csv(PUBLISHED / "ouster-corrections.csv", dtype=str)
    corrected = printed[printed["right"].notna()]
    assert sorted(corrected["printed"]) == sorted(wrong["printed_ms"])
    for row in corrected.to_dict("records"):
        digits = len(row["printed"].partition(".")[2])
        assert round(float(row["right"]), digits) != float(row["printed"])


def test_published_rates_are_mib_and_an_interval_is_in_ms() -> None:
    camera = printed_figures.camera_rmw(PUBLISHED / "camera-rmw.csv").frame
    rate = camera[(camera["measure"] == "throughput") & (camera["configuration"] == "2160p60")]
    assert set(rate["printed"]) == {"1424"}
    assert set(rate["unit"]) == {"MiB/s"}
    mean = printed_figures.ci_of_mean(PUBLISHED / "ci-of-mean.csv").frame.set_index("statistic")
    assert mean.loc["mean, high, 0.98", "printed"] == "0.97916"
    terms = printed_figures.anova_terms(PUBLISHED / "dds-anova.csv")
    assert round(terms["size"]["eta_sq"] or 0, 3) == 0.826
    assert round(terms["middleware"]["eta_sq"] or 0, 4) == 0.0032


def test_corrections_are_those_of_the_file(relay: Results) -> None:
    assert made(relay, "qos", "corrections").frame["text"].tolist() == ["one", "two"]
