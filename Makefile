# `make demo` and `make test` are all a newcomer needs: every target first builds .venv, or leaves it alone when it is
# up to date. Needed on the machine: make, and Python 3.11 or newer with its venv module.

VENV := .venv
PY := $(VENV)/bin/python
UV := $(VENV)/bin/uv
READY := $(VENV)/.ready
PROJECTS := pyproject.toml $(wildcard plugins/*/pyproject.toml)
EDITABLE := $(foreach project,$(PROJECTS),-e ./$(patsubst %/,%,$(dir $(project))))
PYTHONS := $(PYTHON) python3.11 python3 python3.13 python3.12 python
# Worker processes for pytest. The tests of a file share one of them, as they share servers.
WORKERS ?= 2
# What to test, and more options for pytest: make test TESTS=tests/schema ARGS="-k filter -x"
TESTS ?=
ARGS ?=
BENCH ?= $(filter-out \_%,$(notdir $(basename $(wildcard tests/benchmarks/*.py))))

# These settings of the user's shell would send the installation somewhere else, or make it refuse.
unexport PIP_PREFIX PIP_REQUIRE_HASHES PIP_TARGET PIP_USER PYTHONHOME UV_NO_BUILD UV_REQUIRE_HASHES UV_SYSTEM_PYTHON
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test check fmt lint types bench soak ui api constraints clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(READY) ## index a restaurant menu and ask it questions, without keys or network
	@$(PY) samples/menu/demo.py

test: $(READY) ## run all tests
	@$(PY) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS) $(TESTS)

check: lint types ## lint and type-check

lint: $(READY) ## lint, and check the formatting
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: $(READY) ## type-check (mypy, strict)
	@$(PY) -m mypy

fmt: $(READY) ## format, and mend what the linter can mend
	@$(PY) -m ruff check --fix-only --quiet .
	@$(PY) -m ruff format .

bench: $(READY) ## measure against the bare limits, on a quiet machine (one alone: make bench BENCH=splitting)
	@for name in $(BENCH); do echo "== $$name"; $(PY) -m tests.benchmarks.$$name $(ARGS) || exit 1; done

soak: $(READY) ## run the tests that take minutes
	@$(PY) -m pytest -m soak $(ARGS) $(TESTS) || [ $$? -eq 5 ]

ui: devui/node_modules/.package-lock.json ## build the developer UI into flowkit/server/static (needs Node)
	@cd devui && npm run --silent build

api: $(READY) devui/node_modules/.package-lock.json ## write the dev API's OpenAPI document and the UI's types of it
	@$(PY) -m tests.ui.openapi >devui/openapi.json
	@cd devui && npm run --silent api

devui/node_modules/.package-lock.json: devui/package-lock.json
	@cd devui && npm ci --silent && touch node_modules/.package-lock.json

constraints: $(UV) ## pin again what the pyproject files ask for (make constraints UPGRADE=--upgrade takes the newest)
	@$(UV) pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 --all-extras --group dev $(UPGRADE) \
	  --no-header --no-annotate --strip-extras --no-emit-index-url --no-emit-find-links \
	  $(foreach dist,$(DISTS),--no-emit-package $(dist)) --output-file constraints.txt $(PROJECTS)
	@sed 's/ *;.*//' constraints.txt >constraints.tmp && mv constraints.tmp constraints.txt

clean: ## remove .venv, caches and build products; indexes and traces (.flowkit) stay
	@rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build plugins/*/dist
	@find . -name node_modules -prune -o -type d -name __pycache__ -exec rm -rf {} +

DISTS = $(shell sed -n 's/^name = "\(.*\)"/\1/p' $(PROJECTS))

$(READY): $(UV) $(PROJECTS) constraints.txt
	@echo "installing flowkit and its plugins into $(VENV)"
	@$(PIP_SETTINGS) $(UV) pip install --quiet --python $(PY) --constraint constraints.txt \
	  --build-constraint constraints.txt --group dev $(EDITABLE)
	@touch $@

# Order only: that pip or uv rewrite their own files must not look like a change.
$(UV): | $(PY)
	@$(PY) -m pip install --quiet --constraint constraints.txt uv

$(PY):
	@for python in $(PYTHONS); do \
	  if $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    exec $$python -m venv --clear $(VENV); \
	  fi; \
	done; \
	echo "flowkit needs Python 3.11 or newer with its venv module (on Debian: apt-get install python3-venv)" >&2; exit 1

# uv does not read pip's settings: a mirror or a certificate that is set for pip is handed on.
PIP_SETTINGS = get() { $(PY) -m pip config list 2>/dev/null | sed -n "s/^.*\.$$1='\(.*\)'$$/\1/p" | tail -n 1; }; \
	index=$$(get index-url); cert=$$(get cert); \
	if [ -n "$$index" ] && [ -z "$$UV_INDEX_URL" ]; then export UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$$index}"; fi; \
	if [ -n "$$cert" ]; then export SSL_CERT_FILE="$${SSL_CERT_FILE:-$$cert}"; fi;
