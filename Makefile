# Each target sets up what it needs: `make demo` and `make test` work on a fresh clone.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
SURVEY := .venv/.survey
READY := .venv/.ready
TESTABLE := .venv/.testable
# Bytecode is kept, also where the environment says otherwise: many tests start Python again.
ON_ALL_CORES := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n auto --dist worksteal --durations=25

.PHONY: demo test slow check bench papers conformance clean
.DEFAULT_GOAL := demo

demo: $(SURVEY)  ## the main job: a survey on this machine, answered by made-up people
	$(BIN)/sottovoce survey demo

test: $(TESTABLE)  ## everything but the slow tests, with coverage
	$(ON_ALL_CORES) -m "not slow" --cov

slow: $(TESTABLE)  ## installs from scratch, seeded faults, long simulations
	$(ON_ALL_CORES) -m slow

check: $(READY)  ## format, lint, types, import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: $(READY)  ## every benchmark, ours and the peers' in one run
	$(BIN)/python -m benchmarks run all

papers: $(READY)  ## the papers' tables and figures, into out/papers
	mkdir -p out
	$(BIN)/python -m papers run all --folder out/papers --json out/papers.json

conformance: $(READY)  ## whether the committed test vectors are what the code produces
	$(BIN)/python -m conformance check

clean:
	rm -rf .venv build dist out .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# What a survey needs and no more, so that the demo is there in less than a minute.
$(SURVEY): pyproject.toml constraints.txt tools/system
	tools/system
	$(PYTHON) -m venv .venv
	$(INSTALL) -e '.[survey]'
	touch $(SURVEY)

$(READY): $(SURVEY)
	tools/system dev
	$(INSTALL) -e '.[dev]'
	touch $(READY)

$(TESTABLE): $(READY) tools/browsers/package.json
	tools/system test
	touch $(TESTABLE)
