# One entry for everything. `make demo` and `make test` work on a fresh machine with
# Python 3.11+, git and make; the rest is for whoever builds echoctl.
# The first that really runs: a name on the path may be a stand-in for nothing.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
VENV   := .venv
BIN    := $(VENV)/bin
LOCK   := --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: install tools demo test check check-static format nightly bench docs lock clean

install: $(VENV)/installed

tools: $(VENV)/installed-dev

$(VENV)/installed: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "echoctl needs Python 3.11 to 3.13; name one: make PYTHON=/path/to/python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing what requirements.lock pins (hashes checked) into $(VENV) ..."
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/installed-dev: requirements-dev.lock $(VENV)/installed
	@echo "installing the tools for tests and checks that requirements-dev.lock pins ..."
	@$(PIP) --require-hashes -r requirements-dev.lock
	@touch $@

demo: install          ## rehearse MEMORIA-X on development worlds; ends with a verdict and a page
	@rm -rf demo
	@$(BIN)/echoctl rehearse memx --units 3 --keep demo

test: tools            ## the tests that decide whether a change may land
	@$(BIN)/python -m pytest -n auto --dist loadfile

check: check-static test   ## format, lint, types, house rules, then the tests

check-static: tools
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: tools
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

nightly: tools         ## the long runs: millions of differential steps, every byte flipped, every kill
	@$(BIN)/python -m pytest -m nightly

bench: tools           ## speed as ratios in one run
	@for script in benchmarks/*_speed.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: tools            ## the generated pages
	@$(BIN)/python -m echoctl.cli.reference docs/commands.md

lock:                  ## renew both lock files (needs uv)
	uv pip compile pyproject.toml --group build $(LOCK) -o requirements.lock
	uv pip compile pyproject.toml --group dev -c requirements.lock $(LOCK) -o requirements-dev.lock

clean:
	rm -rf $(VENV) demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
