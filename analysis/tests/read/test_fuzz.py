# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever the bytes are, the decoder reads or refuses them, and the engine takes any events.

libFuzzer with ASan and UBSan; every row of a column that is asked for must be there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

# The first test builds the targets with sanitizers, beside other tests on two cores.
pytestmark = pytest.mark.timeout(1500)

NATIVE = Path(__file__).parents[2] / "native"
FUZZ = NATIVE / "fuzz"
BUILD = NATIVE / "build/fuzz"
SECONDS = 8
LIMITS = ["-rss_limit_mb=1024", "-timeout=10", "-max_len=65536"]
# The limit is meant for what the decoder holds. By default ASan keeps 256 MiB of freed blocks and
# all their pages, so that the process passes 1 GiB where the decoder holds 40 MiB.
ASAN_OPTIONS = "quarantine_size_mb=64:allocator_release_to_os_interval_ms=200"
TARGETS = ["metadata", "packets", "engine", "trace"]


def has_libfuzzer(directory: Path) -> bool:
    compiler = shutil.which("clang++")
    if compiler is None or shutil.which("cmake") is None:
        return False
    source = directory / "empty.cpp"
    source.write_text(
        "#include <cstddef>\n#include <cstdint>\n"
        'extern "C" int LLVMFuzzerTestOneInput(const uint8_t*, size_t) { return 0; }\n'
    )
    command = [compiler, "-fsanitize=fuzzer,address,undefined", source, "-o", directory / "empty"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the targets, built as far as their sources changed."""
    if not has_libfuzzer(tmp_path_factory.mktemp("libfuzzer")):
        pytest.skip("clang++ with libFuzzer is not installed (clang, libclang-rt-14-dev)")
    configure = ["cmake", "-S", NATIVE, "-B", BUILD, "-DCTF_FUZZ=ON"]
    for command in (
        [*configure, "-DCMAKE_CXX_COMPILER=clang++"],
        ["cmake", "--build", BUILD, "--parallel", "2"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return BUILD / "fuzz"


def run(binaries: Path, target: str, artifacts: Path, *arguments: str | Path) -> None:
    artifacts.mkdir(parents=True, exist_ok=True)
    # A shell between: what a process that is replaced needed counts as its successor's memory.
    command = [
        *("sh", "-c", '"$@"; exit $?', "sh"),
        binaries / f"fuzz_{target}",
        *LIMITS,
        f"-artifact_prefix={artifacts}/",
        *arguments,
    ]
    environment = os.environ | {
        "ASAN_OPTIONS": ASAN_OPTIONS,
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    done = subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env=environment,
        check=False,
    )
    reproducers = ", ".join(str(path) for path in sorted(artifacts.iterdir()))
    print(f"reproducers: {reproducers or 'none'}")
    assert done.returncode == 0, f"reproducer: {reproducers or 'a seed'}\n{done.stderr[-6000:]}"


@pytest.mark.parametrize("target", TARGETS)
def test_every_seed_is_taken_or_refused(binaries: Path, tmp_path: Path, target: str) -> None:
    seeds = FUZZ / "corpus" / target
    assert len(list(seeds.iterdir())) > 7
    run(binaries, target, tmp_path / "artifacts", "-runs=0", seeds)


@pytest.mark.parametrize("target", TARGETS)
def test_so_is_what_the_fuzzer_makes_of_them(binaries: Path, tmp_path: Path, target: str) -> None:
    # New inputs go to the first directory, not to the seeds. Artifacts outlive the test.
    found = tmp_path / "found"
    found.mkdir()
    seeds = FUZZ / "corpus" / target
    run(binaries, target, BUILD / "artifacts", f"-max_total_time={SECONDS}", found, seeds)


def test_seeds_are_small() -> None:
    sizes = [path.stat().st_size for path in (FUZZ / "corpus").rglob("*") if path.is_file()]
    assert max(sizes) < 64 * 1024
    assert sum(sizes) < 1024 * 1024
