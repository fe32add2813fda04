# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# `make demo` on a fresh machine does everything; `make test` is what CI runs.
SHELL := /bin/bash
SETUP := tracing_ws/setup
PYTHON := _ROS_WHEELS_BOOTSTRAP_COMPLETE=1 .venv/bin/python
CLANG_FORMAT := .venv/bin/clang-format
C_SOURCES := $(shell git ls-files -- '*.c' '*.h' '*.cpp' '*.hpp')
DEMO := sessions/$(shell date -u +%Y%m%dT%H%M%SZ)_demo
GENERATED := analysis/native/model/generated
PY_SOURCES := analysis tracing_ws/src tracing_ws/setup launch $(wildcard docs/*/*.py)

.DEFAULT_GOAL := help
.PHONY: help setup setup-kilted setup-oracle demo test oracle check format docs bench faults guard-faults torture fuzz harmless clean

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

setup: ## install what is needed, build the workspace, make .venv/bin/strata
	@$(SETUP)/setup.sh

setup-kilted: setup ## the same workspace for ROS 2 Kilted, in .venv-kilted (the tests use it)
	@$(SETUP)/wheels.sh .venv-kilted $(SETUP)/kilted.txt
	@$(SETUP)/workspace.sh kilted .venv-kilted

setup-oracle: ## ouster-sdk in .venv-oracle, which judges the lidar emulator (the tests use it)
	@$(SETUP)/wheels.sh .venv-oracle $(SETUP)/oracle.txt

# A depth of 100 keeps a second of messages: with the default of 10, a busy machine that stalls a node
# for over 100 ms loses some, and the demo with them.
demo: setup ## record a relay chain, print where its latency went, write a report
	.venv/bin/strata record -c trace_configs/full.yaml -o $(DEMO) -- \
	  python3 -m relay_chain --relays 3 --messages 500 --depth 100 --log $(DEMO)/truth
	.venv/bin/strata analyze $(DEMO)
	.venv/bin/strata report $(DEMO)

# Tests that record wait more than they compute, so three run beside each other. Session daemons of root
# need mount namespaces for that.
RECORDING := analysis/tests/live analysis/tests/record analysis/tests/read/test_live_ctf.py \
  analysis/tests/campaign/test_live_campaign.py
BESIDE := $(shell [ $$(id -u) != 0 ] || unshare --mount true 2>/dev/null && echo 3 || echo 0)
# These compare what they planted with what was measured: they have the machine to themselves.
ALONE := $(addprefix analysis/tests/live/test_live_,faults.py guard.py kernel.py pages.py)
# On a machine of a known kind only what its kind allows may be skipped (analysis/tests/allowed_skips.py).
MACHINE := $(if $(wildcard /opt/ros/*/setup.bash),ros,wheels)
PYTEST := PYTHONPATH=analysis/tests $(PYTHON) -m pytest -p allowed_skips --machine $(MACHINE) \
  -c analysis/pyproject.toml --rootdir . --durations 25 --durations-min 5
test: setup setup-kilted setup-oracle check ## run every test
	$(PYTEST) -n 2 --dist loadfile analysis/tests $(addprefix --ignore=,$(RECORDING))
	$(PYTEST) -n $(BESIDE) --dist loadfile $(RECORDING) tracing_ws/src $(addprefix --ignore=,$(ALONE))
	$(PYTEST) $(ALONE)

oracle: setup-oracle ## have ouster-sdk verify 1000 scans of each lidar mode, every pixel
	.venv-oracle/bin/python tracing_ws/src/lidar_pipeline/test/programs/oracle.py --scans 1000

check: setup ## format, lint, types, generated docs
	.venv/bin/ruff format --config analysis/pyproject.toml --check $(PY_SOURCES)
	.venv/bin/ruff check --config analysis/pyproject.toml $(PY_SOURCES)
	cd analysis && ../.venv/bin/mypy
	$(CLANG_FORMAT) --dry-run -Werror $(C_SOURCES)
	$(PYTHON) -m strata.schema.docs --check docs
	$(PYTHON) -m strata.cli.reference --check docs/reference
	$(PYTHON) -m strata.schema.engine.generate --check $(GENERATED)

format: setup ## format the sources
	.venv/bin/ruff format --config analysis/pyproject.toml $(PY_SOURCES)
	.venv/bin/ruff check --fix --config analysis/pyproject.toml $(PY_SOURCES)
	$(CLANG_FORMAT) -i $(C_SOURCES)

# A broken link or anchor fails the build. The site is in $(SITE)/index.html, the man page in $(MAN).
SITE := analysis/build/site
MAN := analysis/build/man/strata.1
docs: setup ## write the generated pages and headers, the site in analysis/build/site, the man page
	$(PYTHON) -m strata.schema.docs docs
	$(PYTHON) -m strata.cli.reference docs/reference
	$(PYTHON) -m strata.cli.manual $(MAN)
	$(PYTHON) -m strata.schema.engine.generate $(GENERATED)
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --quiet --strict --config-file docs/site/mkdocs.yml
	@echo "The site is $(SITE)/index.html; the man page: man -l $(MAN)"

bench: setup ## run the benchmarks
	$(PYTHON) tracing_ws/src/rclpy_tracepoints/benchmark/bench_emit.py
	$(PYTHON) tracing_ws/src/driver_tracepoints/benchmark/bench_driver.py
	$(PYTHON) tracing_ws/src/ros2_statedump/benchmark/bench_statedump.py
	$(PYTHON) tracing_ws/src/dds_tracepoints/benchmark/bench_publish.py
	$(PYTHON) tracing_ws/src/dds_tracepoints/benchmark/bench_recording.py
	@source $(SETUP)/environment.sh .venv && .venv/bin/python tracing_ws/src/camera_pipeline/benchmark/bench_publish_image.py
	$(PYTHON) tracing_ws/src/lidar_pipeline/benchmark/bench_polling.py
	$(PYTHON) analysis/benchmarks/bench_thread_sampling.py
	$(PYTHON) analysis/benchmarks/bench_read.py
	$(PYTHON) analysis/benchmarks/bench_analysis.py

FAULTS ?=
guard-faults: setup ## plant one fault each under strata guard, and count the right verdicts
	$(PYTHON) analysis/benchmarks/faults/guarded.py $(FAULTS)

faults: setup ## plant known faults, and count what Strata says right (FAULTS="NAME ...": only these)
	$(PYTHON) analysis/benchmarks/faults $(FAULTS)

TORTURE ?=
TORTURE_MINUTES ?= 30
TORTURE_SEED ?=
torture: setup ## disturb recordings at random for TORTURE_MINUTES (30; TORTURE="NAME ...": only these kinds)
	$(PYTHON) analysis/benchmarks/torture --minutes $(TORTURE_MINUTES) $(addprefix --seed ,$(TORTURE_SEED)) $(TORTURE)

# Its table is for a machine with compilers and runtimes of many languages.
harmless: setup ## run programs of many kinds plain and recorded; the table of docs/recording.md
	$(PYTHON) analysis/benchmarks/harmless --page docs/recording.md

FUZZ := analysis/native/build/fuzz
FUZZ_SECONDS ?= 3600
fuzz: setup ## run the fuzzers of decoder, engine and both, FUZZ_SECONDS each (3600)
	cmake -S analysis/native -B $(FUZZ) -DCTF_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++
	cmake --build $(FUZZ) --parallel 2
	for target in metadata packets engine trace; do \
	  mkdir -p $(FUZZ)/found/$$target $(FUZZ)/artifacts; \
	  UBSAN_OPTIONS=print_stacktrace=1 $(FUZZ)/fuzz/fuzz_$$target -max_total_time=$(FUZZ_SECONDS) \
	    -rss_limit_mb=1024 -timeout=10 -max_len=65536 -artifact_prefix=$(FUZZ)/artifacts/ \
	    $(FUZZ)/found/$$target analysis/native/fuzz/corpus/$$target || exit 1; \
	done

clean: ## remove what was built (never sessions)
	rm -rf .venv .venv-kilted .venv-oracle analysis/native/build analysis/build tracing_ws/build tracing_ws/install tracing_ws/log
