# Everything a newcomer needs: `make demo` and `make test` do all the set-up themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
unexport PYTHONDONTWRITEBYTECODE  # tests start hundreds of processes, which would compile every module again

.SECONDARY:
.PHONY: help demo quick test test-heavy nightly check format docs papers paper-pages picture bench bench-quick test-gpu test-integrations test-oldest test-newest coverage wheel compiled-wheel dist sbom licences audit clean
help:            ## show the targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed 's/:[^#]*## /\t/' | expand -t 14

$(BIN)/crypsis: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("crypsis needs Python 3.11 or newer; set PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --constraint constraints.txt --editable .
	@touch $@

$(BIN)/.dev: $(BIN)/crypsis constraints.txt
	$(PIP) --constraint constraints.txt --editable '.[spark,web,excel,statistics,postgresql,delta,iceberg,cloud,contracts]' --group dev --group docs
	@touch $@

demo: $(BIN)/crypsis   ## make a sample release and run the main job on it
	$(BIN)/crypsis demo --output demo

QUICK := tests/counting tests/policies tests/test_dataset.py tests/test_results.py tests/test_hierarchies.py \
  tests/cli/test_scan.py tests/cli/test_assess.py tests/structure/test_imports.py
$(BIN)/.quick: $(BIN)/crypsis
	$(PIP) --constraint constraints.txt --group quick
	@touch $@

quick: $(BIN)/.quick   ## the first ten minutes of a contributor: format, lint and the tests of the core; no Java, browser or database
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -q $(WITHOUT_SPARK) $(QUICK)

test: $(BIN)/.dev      ## install what the tests need and run them all
	@tools/system-packages
	$(BIN)/crypsis compile
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

papers: $(BIN)/.dev    ## compute the four papers again, next to what they print (DATA=... is the folder of the real data)
	$(BIN)/python -m papers $(if $(DATA),--data "$(DATA)") $(PAPERS_ARGS)

paper-pages: $(BIN)/.dev ## the same, and write the pages of the papers in the manual again
	$(BIN)/python -m papers $(if $(DATA),--data "$(DATA)") --pages docs/papers

picture: $(BIN)/.dev   ## take the picture of the report in the README again
	$(BIN)/python docs/_ext/screenshot.py docs/images/report.png

bench: $(BIN)/.dev     ## measure beside peers (in their own environments), write results and tables
	$(BIN)/python -m benchmarks

bench-quick: $(BIN)/.dev ## the quick tasks against the ratios of this kind of machine; fails if crypsis became slower by 30 %
	$(BIN)/python -m benchmarks --quick

test-gpu: $(BIN)/.dev  ## the tests that need a CUDA device
	$(PIP) --constraint constraints.txt --editable '.[gpu]'
	$(BIN)/python -m pytest -m gpu

OLDEST := tests/test_dataset.py tests/test_results.py tests/test_schemas.py tests/test_hierarchies.py tests/counting \
  tests/singling_out tests/cli/test_assess.py tests/cli/test_scan.py tests/cli/test_anonymize.py tests/assessment/test_ci_outputs.py
READERS := tests/tables tests/columns tests/policies tests/utility tests/cli
WITHOUT_SPARK := -k "not spark and not test_cluster and not rows_of_a_cluster" --ignore tests/singling_out/test_engines.py
INTEGRATIONS := dagster dbt great_expectations pandera pre_commit pytest_plugin sklearn
build/integrations/%/.ready: pyproject.toml tests/integrations/requirements/%.txt
	$(PYTHON) -m venv build/integrations/$*
	build/integrations/$*/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	build/integrations/$*/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[contracts]' "pytest>=8.3" \
	  --requirement tests/integrations/requirements/$*.txt
	@touch $@

test-integration-%: build/integrations/%/.ready
	build/integrations/$*/bin/python -m pytest -c tests/integrations/pytest.ini --rootdir . --confcutdir tests/integrations \
	  tests/integrations/check_$*.py

test-integrations: $(INTEGRATIONS:%=test-integration-%)   ## each integration against the newest version of its tool

wheel: $(BIN)/.dev     ## for every system; the same bytes wherever it is built
	$(BIN)/python -m hatchling build -t wheel

compiled-wheel: $(BIN)/crypsis   ## for this system and this Python: the kernels of the ordinary commands as machine code
	$(PIP) --group release
	$(BIN)/python -m build --wheel --outdir build/wheel .
	$(BIN)/python tools/compiled_wheel.py build/wheel/crypsis-$$($(BIN)/python tools/version.py)-py3-none-any.whl dist

dist: $(BIN)/crypsis    ## both wheels and the sdist, checked as the index will, and a conda recipe
	rm -rf dist
	$(PIP) --group release
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python tools/compiled_wheel.py dist/*.whl dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/python tools/conda_recipe.py dist/conda/recipe.yaml

build/oldest/.ready: pyproject.toml
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/python -m pip install --quiet --upgrade "pip>=25.1" uv
	build/oldest/bin/uv pip compile --quiet --resolution lowest-direct pyproject.toml --output-file build/oldest/requirements.txt
	build/oldest/bin/python -m pip install --quiet --requirement build/oldest/requirements.txt \
	  "pytest>=8.3" "pytest-xdist>=3.6" "hypothesis>=6.115" "jsonschema>=4.20" "pyyaml>=6.0" "pandas>=2.2,<3" "polars>=1.12,<2"
	build/oldest/bin/python -m pip install --quiet --no-deps --editable .
	@touch $@

test-oldest: build/oldest/.ready   ## the core with the lowest version of every dependency
	NUMBA_CACHE_DIR=$(CURDIR)/build/oldest/numba build/oldest/bin/python -m pytest -n 2 $(WITHOUT_SPARK) $(OLDEST)

build/newest/.ready: pyproject.toml
	$(PYTHON) -m venv build/newest
	build/newest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	build/newest/bin/python -m pip install --quiet --editable '.[web,excel,statistics,postgresql,delta,iceberg,cloud,contracts,docx]' --group dev
	@touch $@

test-newest: build/newest/.ready   ## the core and all readers with the newest version of every dependency
	build/newest/bin/python -m pytest -n 2 $(WITHOUT_SPARK) $(OLDEST) $(READERS)

coverage: $(BIN)/.dev  ## all tests, with the share of lines that they run; fails below the floor
	@tools/system-packages
	$(BIN)/python -m pytest -n 2 --dist loadgroup --cov --cov-report term

sbom: $(BIN)/.dev      ## a software bill of materials (CycloneDX) in dist/sbom.json
	@mkdir -p dist
	$(BIN)/python tools/supply_chain.py sbom > dist/sbom.json

licences: $(BIN)/.dev  ## the licences of everything that is installed with it
	@$(BIN)/python tools/supply_chain.py licences

audit: $(BIN)/.heavy   ## known vulnerabilities, as far as can be told from here
	$(BIN)/python tools/supply_chain.py audit

clean:           ## remove the environment and everything built
	rm -rf $(VENV) dist demo docs/_build docs/_figures docs/_extra docs/reference build .pytest_cache .mypy_cache .ruff_cache
