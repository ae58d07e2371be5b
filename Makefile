# Everything a newcomer needs: `make demo` and `make test` do all the set-up themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test test-heavy nightly check format docs picture bench bench-quick test-gpu wheel sbom licences audit clean
help:            ## show the targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed 's/:[^#]*## /\t/' | expand -t 14

$(BIN)/crypsis: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("crypsis needs Python 3.11 or newer; set PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --constraint constraints.txt --editable .
	@touch $@

$(BIN)/.dev: $(BIN)/crypsis constraints.txt
	$(PIP) --constraint constraints.txt --editable '.[spark,web,excel,statistics,postgresql,delta,iceberg,cloud]' --group dev --group docs
	@touch $@

demo: $(BIN)/crypsis   ## make a sample release and run the main job on it
	$(BIN)/crypsis demo --output demo

test: $(BIN)/.dev      ## install what the tests need and run them all
	@tools/system-packages
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(PYTEST_ARGS)

$(BIN)/.heavy: $(BIN)/.dev
	$(PIP) --constraint constraints.txt --group heavy
	@touch $@

test-heavy: $(BIN)/.heavy   ## the guarantees that take minutes: kills, full disks, coverage-guided fuzzing
	@tools/system-packages
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m heavy tests $(PYTEST_ARGS)

nightly: test-heavy    ## and 10,000 random cases a measure, two minutes of fuzzing a parser
	CRYPSIS_CASES=10000 $(BIN)/python -m pytest -n 2 tests/promises/test_numbers.py
	$(BIN)/python -m tests.promises.fuzz 120

check: $(BIN)/.dev     ## format, lint, types, import directions
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/structure

format: $(BIN)/.dev    ## put the code in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(BIN)/.dev      ## build the documentation, warnings are errors
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

picture: $(BIN)/.dev   ## take the picture of the report in the README again
	$(BIN)/python docs/_ext/screenshot.py docs/images/report.png

bench: $(BIN)/.dev     ## measure beside peers (in their own environments), write results and tables
	$(BIN)/python -m benchmarks

bench-quick: $(BIN)/.dev ## the quick tasks against the recorded ratios; fails if crypsis became slower by 30 %
	$(BIN)/python -m benchmarks --quick

test-gpu: $(BIN)/.dev  ## the tests that need a CUDA device
	$(PIP) --constraint constraints.txt --editable '.[gpu]'
	$(BIN)/python -m pytest -m gpu

wheel: $(BIN)/.dev     ## the same bytes wherever it is built
	$(BIN)/python -m hatchling build -t wheel

sbom: $(BIN)/.dev      ## a software bill of materials (CycloneDX) in dist/sbom.json
	@mkdir -p dist
	$(BIN)/python tools/supply_chain.py sbom > dist/sbom.json

licences: $(BIN)/.dev  ## the licences of everything that is installed with it
	@$(BIN)/python tools/supply_chain.py licences

audit: $(BIN)/.heavy   ## known vulnerabilities, as far as can be told from here
	$(BIN)/python tools/supply_chain.py audit

clean:           ## remove the environment and everything built
	rm -rf $(VENV) dist demo docs/_build docs/_figures docs/reference .pytest_cache .mypy_cache .ruff_cache
