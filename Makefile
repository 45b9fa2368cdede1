# Every target does its own set-up: a fresh clone needs nothing but Python 3.11 and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DOCS   := $(VENV)/.docs-ready

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench paper docs lock clean

help:  ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

# install(hashed requirements): exactly the tested versions, with uv where it exists and pip otherwise.
define install
	@if command -v uv >/dev/null 2>&1; then \
	  test -x $(BIN)/python || uv venv --quiet --python $(PYTHON) $(VENV); \
	  uv pip install --quiet --python $(BIN)/python --require-hashes -r $(1) && \
	  uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .; \
	else \
	  test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV); \
	  $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r $(1) && \
	  $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	fi
endef

$(READY): requirements/dev.txt pyproject.toml
	@echo "Installing into $(VENV) ..."
	$(call install,requirements/dev.txt)
	@touch $@

$(DOCS): requirements/docs.txt $(READY)
	$(call install,requirements/docs.txt)
	@touch $@

demo: $(READY)  ## rank a synthetic set of insurance claims within a budget of 50
	$(BIN)/shortlist demo --folder demo

# One thread per test process: the processes already use all cores, and waiting threads would only spin.
test: $(READY)  ## all tests: code, types, style, import direction, doctests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadgroup

lint: $(READY)  ## style, types, import direction
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)  ## every study of speed and quality in its quick form
	@for study in $$($(BIN)/python -m studies | grep -oE '^(speed|quality)\.[a-z_]+'); do \
	  echo "== $$study"; $(BIN)/python -m studies $$study --quick || exit 1; \
	done

paper: $(READY)  ## the experiment of a paper, its table beside ours: make paper P=sgbap
	$(BIN)/python -m studies papers.$(P) $(A)

# Pages of modules that are gone would stay behind.
docs: $(DOCS)  ## the documentation, with executed examples
	@rm -rf docs/reference
	$(BIN)/sphinx-build -W -q docs docs/_build
	@echo "Open docs/_build/index.html"

lock:  ## write the pinned versions anew (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --extra dev pyproject.toml -o requirements/dev.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --constraint requirements/dev.txt --extra docs pyproject.toml -o requirements/docs.txt

clean:  ## remove what the targets made
	rm -rf $(VENV) demo dist docs/_build docs/gallery docs/reference docs/sg_execution_times.rst
