# One entry for everything. `make demo` and `make test` work on a fresh machine with
# Python 3.11+, git and make; the rest is for whoever builds echoctl.
PYTHON ?= $(shell command -v python3.13 || command -v python3.12 || command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/installed

.PHONY: install demo test check check-static format nightly bench docs lock clean

install: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("echoctl needs Python 3.11 to 3.13; name one: make PYTHON=python3.12" if not (3, 11) <= sys.version_info[:2] <= (3, 13) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing what requirements.lock pins (hashes checked) into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

demo: install          ## rehearse MEMORIA-X on development worlds; ends with a verdict and a page
	@$(BIN)/echoctl rehearse memx --units 3 --keep demo

test: install          ## the tests that decide whether a change may land
	@$(BIN)/python -m pytest

check: check-static test   ## format, lint, types, house rules, then the tests

check-static: install
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: install
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

nightly: install       ## the long runs: millions of differential steps, every byte flipped, every kill
	@$(BIN)/python -m pytest -m nightly

bench: install         ## speed as ratios in one run
	@for script in benchmarks/*_speed.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: install          ## the generated pages
	@$(BIN)/python -m echoctl.cli.reference docs/commands.md

lock:                  ## renew requirements.lock (needs uv)
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --quiet -o requirements.lock

clean:
	rm -rf $(VENV) demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
