# Everything a newcomer needs: `make demo` and `make test` do all the set-up themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test check format docs bench test-gpu clean
help:            ## show the targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed 's/:[^#]*## /\t/' | expand -t 14

$(BIN)/crypsis: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("crypsis needs Python 3.11 or newer; set PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --constraint constraints.txt --editable .
	@touch $@

$(BIN)/.dev: $(BIN)/crypsis constraints.txt
	$(PIP) --constraint constraints.txt --editable '.[spark,web,excel,cloud]' --group dev --group docs
	@touch $@

demo: $(BIN)/crypsis   ## make a sample release and run the main job on it
	$(BIN)/crypsis demo --output demo

test: $(BIN)/.dev      ## install what the tests need and run them all
	@tools/system-packages
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(PYTEST_ARGS)

check: $(BIN)/.dev     ## format, lint, types, import directions
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_imports.py

format: $(BIN)/.dev    ## put the code in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(BIN)/.dev      ## build the documentation, warnings are errors
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

bench: $(BIN)/.dev     ## measure side by side, write benchmarks/results
	$(BIN)/python -m benchmarks

test-gpu: $(BIN)/.dev  ## the tests that need a CUDA device
	$(PIP) --constraint constraints.txt --editable '.[gpu]'
	$(BIN)/python -m pytest -m gpu

clean:           ## remove the environment and everything built
	rm -rf $(VENV) dist demo docs/_build .pytest_cache .mypy_cache .ruff_cache
