# Every target does its own set-up: a fresh clone needs nothing but Python (3.11 or newer) and make.
# The newest Python that runs is taken; PYTHON=python3.12 chooses another, VENV=.venv-3.12 keeps it beside the first.
ifndef PYTHON
PYTHON := $(shell for each in python3.13 python3.12 python3.11 python3; do \
  $$each -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$each && break; done)
endif
VERSION := $(shell $(PYTHON) -c 'import sys; sys.version_info >= (3, 11) and print("%d.%d" % sys.version_info[:2])' 2>/dev/null)

# Tests start some hundred processes: where Python may not keep what it has compiled, each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

VENV ?= .venv
BIN  := $(VENV)/bin
# What is in the environment: its Python, then what the package needs to run, then the test tools, then those of the docs; Spark
# for slow tests.
MADE  := $(VENV)/.python-$(VERSION)
RUNS  := $(VENV)/.runs
READY := $(VENV)/.ready
DOCS  := $(VENV)/.docs-ready
SPARK := $(VENV)/.spark-ready

RUNTIME ?= requirements/run.txt
TOOLS   ?= requirements/dev.txt

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-slow test-cpus test-oldest test-upgrade test-libraries lint bench paper docs \
  package newcomer figures sbom audit coverage lock clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

# install(arguments): with uv where it exists and pip otherwise.
define install
	@if command -v uv >/dev/null 2>&1; then uv pip install --quiet --python $(BIN)/python $(1); \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check $(1); fi
endef

$(MADE):
	@test -n "$(VERSION)" || { echo "$(or $(PYTHON),Python) is not a Python of 3.11 or newer that runs." \
	  "Install one, or name it: make PYTHON=/path/to/python"; exit 1; }
	@if test -f $(VENV)/pyvenv.cfg; then echo "$(VENV) is of another Python: it is made anew"; rm -rf $(VENV); fi
	@echo "Installing into $(VENV) (Python $(VERSION)) ..."
	@if command -v uv >/dev/null 2>&1; then uv venv --quiet --seed --python $(PYTHON) $(VENV); \
	else $(PYTHON) -m venv $(VENV); fi
	@touch $@

# Exactly the tested versions, and the package itself by a build backend that is as exact.
$(RUNS): $(RUNTIME) requirements/build.txt pyproject.toml $(MADE)
	$(call install,--require-hashes -r $(RUNTIME))
	$(call install,--require-hashes -r requirements/build.txt)
	$(call install,--no-deps --no-build-isolation -e .)
	@touch $@

$(READY): $(TOOLS) $(RUNS)
	$(call install,--require-hashes -r $(TOOLS))
	@touch $@

$(DOCS): requirements/docs.txt $(READY)
	$(call install,--require-hashes -r requirements/docs.txt)
	@touch $@

$(SPARK): requirements/spark.txt $(READY)
	$(call install,--require-hashes -r requirements/spark.txt)
	@touch $@

demo: $(RUNS)  ## rank a synthetic set of insurance claims within a budget of 50
	$(BIN)/shortlist demo --folder demo

# One thread per test process: the processes already use all cores, and waiting threads would only spin. One process more than
# cores: a quarter of the time tests wait for servers and browsers. A file stays with one process, so that what its tests share
# (a server, a queue, a trained model) is made once; tests/conftest.py puts files in order. RUNNER=.ci/once-more gives what fails a second try.
RUNNER ?=
PROCESSES ?= $(shell $(PYTHON) -c 'import os; print(os.cpu_count() + 1)' 2>/dev/null)
PYTEST := OMP_NUM_THREADS=1 $(RUNNER) $(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder

test: $(READY)  ## all tests but slow ones, doctests among them
	$(PYTEST) -m "not slow"

test-all: test-slow test-cpus test-3.12 test-3.13 test-oldest test-upgrade  ## slow tests; what other CPUs, Pythons and releases could break

test-slow: $(READY) $(SPARK)
	$(PYTEST) -m slow tests

test-cpus: $(READY)
	RUNNER=$(RUNNER) .ci/other-cpus $(BIN)/python

# What rests on XGBoost, NumPy, scikit-learn, polars and SQLAlchemy: for the newest Python and for old releases.
CORE := tests/test_contract.py tests/models tests/rankers tests/feedback tests/tables tests/stream tests/review/log \
  tests/review/web/test_api.py tests/cli/test_program.py tests/cli/test_rank.py src
# What is enough for a Python between two that are tested: files that all models are written to and read from, the log, the program.
BETWEEN := tests/models tests/review/log tests/review/web/test_api.py tests/cli/test_program.py tests/cli/test_rank.py
# Files of before are read by newer libraries; scikit-learn promises nothing for older ones.
NEWER := tests/test_before.py

test-3.12: LIBRARIES := $(BETWEEN)
test-3.13: LIBRARIES := $(CORE) tests/workflow tests/review/desk
test-3.%:
	@python=$$(.ci/find-python 3.$*) || { echo "Python 3.$* is not installed: not tested"; exit 0; }; \
	$(MAKE) test-libraries PYTHON=$$python VENV=.venv-3.$* LIBRARIES="$(LIBRARIES) $(NEWER)"

# The oldest releases of our dependencies that pyproject.toml allows, with test tools of today. What one of them calls of
# another may be deprecated by now, and the models among the tests were saved with newer ones.
test-oldest:
	@python=$$(.ci/find-python 3.11) || { echo "Python 3.11 is not installed: oldest releases not tested"; exit 0; }; \
	$(MAKE) test-libraries PYTHON=$$python VENV=.venv-oldest RUNTIME=requirements/oldest.txt TOOLS=requirements/oldest.txt \
	  LIBRARIES="$(CORE)" WARNINGS="-W default::DeprecationWarning -W default::sklearn.exceptions.InconsistentVersionWarning"

# Queues that were made with the oldest releases replay bit for bit with those of today.
OLDER := .venv-oldest/queues
test-upgrade: $(READY)
	@test -x .venv-oldest/bin/python || { echo "there are no oldest releases here: upgrades not tested"; exit 0; }; \
	rm -rf $(OLDER) && mkdir $(OLDER) && .venv-oldest/bin/python -m tests.data.make_queues $(abspath $(OLDER)) && \
	for queue in $(OLDER)/*/*.review; do $(BIN)/shortlist replay $$queue || exit 1; done

test-libraries: $(READY)
	$(PYTEST) -m "not slow and not browser" $(WARNINGS) $(LIBRARIES)

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

docs: $(DOCS)  ## the documentation, with executed examples; only what changed is built anew
	$(BIN)/sphinx-build -W -q docs docs/_build
	@echo "Open docs/_build/index.html"

# What a release is made and judged by; RELEASING.md says when. The figures of an install are those of an environment that has nothing else.
package: $(RUNS)  ## wheel and source archive, installed into empty environments, in which the demo runs: make package P="3.11 3.12 3.13"
	$(BIN)/python -m release package $(P)

newcomer: $(RUNS)  ## the README as a new user, with a stopwatch
	$(BIN)/python -m release newcomer $(A)

figures: $(RUNS)  ## keep this version's benchmark figures, and write the page that compares versions
	$(BIN)/python -m release figures

sbom: $(RUNS)  ## the bill of materials of what is installed, as dist/sbom.json
	@mkdir -p dist
	$(BIN)/python -m release sbom > dist/sbom.json

audit: $(RUNS)  ## is what is installed locked, permitted, and not known to be faulty? A="--advisories FOLDER"
	$(BIN)/python -m release audit $(A)

# In one process, and without kernels that are compiled: those have plain twins among the tests.
COVERED ?= tests src
coverage: $(READY)  ## which lines the tests run: make coverage COVERED=tests/metrics
	$(call install,--require-hashes -r requirements/coverage.txt)
	OMP_NUM_THREADS=1 $(BIN)/python -m coverage run --branch --source=src/shortlist -m pytest -q -m "not slow" $(COVERED)
	$(BIN)/python -m coverage report --skip-covered --sort=cover | tee coverage.txt

# dev.txt is resolved first and the others follow it; oldest.txt has the lower bounds of pyproject.toml.
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
lock:  ## write the pinned versions anew (needs uv)
	$(COMPILE) --extra dev pyproject.toml -o requirements/dev.txt
	$(COMPILE) --constraint requirements/dev.txt pyproject.toml -o requirements/run.txt
	$(COMPILE) --constraint requirements/dev.txt --group build -o requirements/build.txt
	$(COMPILE) --constraint requirements/dev.txt --group coverage -o requirements/coverage.txt
	$(COMPILE) --group uv -o requirements/uv.txt
	$(COMPILE) --constraint requirements/dev.txt --extra docs pyproject.toml -o requirements/docs.txt
	$(COMPILE) --constraint requirements/dev.txt --extra spark pyproject.toml -o requirements/spark.txt
	$(COMPILE) --upgrade --resolution lowest-direct --extra oidc --extra plot --extra postgres pyproject.toml -o requirements/oldest.txt
	$(COMPILE) --constraint requirements/oldest.txt --extra dev pyproject.toml -o requirements/oldest.txt

clean:  ## remove what the targets made
	rm -rf $(VENV) .venv-* demo dist .coverage coverage.txt docs/_build docs/gallery docs/reference docs/sg_execution_times.rst
