# `make demo` and `make test` set up all they need in .venv; the rest uses what they set up.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Each framework in its own environment with its own pins: they can't all share one. Gymnasium and PettingZoo are the
# oldest that pyproject.toml allows; the suite runs with the newest.
PIN_gymnasium := gymnasium==1.2.2 pettingzoo==1.25.0
PIN_sb3 := torch stable-baselines3==2.9.2 sb3-contrib==2.9.2 scipy tyro rich tensorboard safetensors threadpoolctl nbclient ipykernel
PIN_rllib := torch ray[rllib]==2.60.0 gymnasium==1.2.2 tyro rich safetensors threadpoolctl
PIN_torchrl := torch torchrl==0.14.1
PIN_tianshou := torch tianshou==2.0.1
PIN_agilerl := torch agilerl==2.58.0 peft pettingzoo<1.27
PIN_openspiel := open_spiel==2.0.2
ALL_FRAMEWORKS := gymnasium sb3 rllib torchrl tianshou agilerl openspiel
FRAMEWORKS ?= $(ALL_FRAMEWORKS)

ifneq ($(filter test-frameworks bench-wrappers,$(MAKECMDGOALS)),)
ifneq ($(filter-out $(ALL_FRAMEWORKS),$(FRAMEWORKS)),)
$(error there is no framework "$(filter-out $(ALL_FRAMEWORKS),$(FRAMEWORKS))" here; FRAMEWORKS is any of: $(ALL_FRAMEWORKS))
endif
ifeq ($(strip $(FRAMEWORKS)),)
$(error FRAMEWORKS is empty; it is any of: $(ALL_FRAMEWORKS))
endif
endif

# What runs with the kernels as plain Python, hundreds of times slower: enough to reach every line of the rules.
NOJIT := tests/test_differential.py tests/envs \
	$(addprefix tests/conformance/test_,endings.py bytes.py bad_input.py bad_batches.py resample.py)

.PHONY: demo test test-frameworks lint types suite nojit docs bench bench-wrappers bench-training format clean

demo: .venv/.demo
	$(BIN)/iszoo demo

test: .venv/.test lint types docs suite nojit

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "iszoo needs Python 3.10 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv

# pettingzoo[classic] is what PettingZoo's own connect four needs, beside which ours is measured.
.venv/.demo: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[cli,peers]'
	touch $@

.venv/.test: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[cli,peers,render,serve,ladder,plots,docs,test]'
	touch $@ .venv/.demo

# The tests of the pages drive a Chromium that is there. As root on Debian this installs it; else they are skipped.
.venv/.chromium: | .venv/bin/python
	command -v chromium || command -v chromium-browser || command -v google-chrome || { \
		test "$$(id -u)" = 0 && command -v apt-get && apt-get -qq update && \
		DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends chromium; \
	} || echo 'WARNING: no chromium, so no page will be tested' >&2
	touch $@

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.test
	$(BIN)/mypy -p iszoo -p tests.oracle
	$(BIN)/pyright --pythonpath $(BIN)/python

# Two processes on two cores: more threads of BLAS in each would only wait for one another.
suite: .venv/.test .venv/.chromium
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

# The kernels as plain Python: the same results, and the only way to see which lines the tests reach.
nojit: .venv/.test
	OMP_NUM_THREADS=1 NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest --quiet --numprocesses 2 --dist worksteal \
		--cov=src/iszoo/envs --cov-branch --cov-report=term-missing:skip-covered $(NOJIT)

# Beside tests/frameworks/test_NAME.py: the training scripts on that framework.
ALSO_sb3 := tests/frameworks/test_ppo.py tests/frameworks/test_alphazero.py tests/frameworks/test_reproduce.py tests/frameworks/test_sb3_notebook.py
ALSO_rllib := tests/frameworks/test_rllib_ppo.py

test-frameworks: $(FRAMEWORKS:%=test-framework-%)

$(ALL_FRAMEWORKS:%=test-framework-%): test-framework-%: .venvs/%/.installed
	OMP_NUM_THREADS=1 .venvs/$*/bin/python -m pytest -W default --confcutdir tests/frameworks tests/frameworks/test_$*.py $(ALSO_$*)

.venvs/%/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venvs/$*
	.venvs/$*/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		$(PIN_$*:%='%') pytest --editable .
	touch $@

.PRECIOUS: .venvs/%/.installed

# A warning fails the build: a link that leads nowhere, a page that no menu shows.
docs: .venv/.test
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: .venv/.demo
	$(BIN)/python -m iszoo.benchmarks.throughput

# One after the other, whatever -j says: they would slow each other down. Rough figures: make bench-wrappers QUICK=--quick
bench-wrappers: $(FRAMEWORKS:%=.venvs/%/.installed)
	set -e; for framework in $(FRAMEWORKS); do \
		OMP_NUM_THREADS=1 .venvs/$$framework/bin/python -m iszoo.benchmarks.wrappers $$framework $(QUICK); \
	done
	.venvs/$(firstword $(FRAMEWORKS))/bin/python docs/make_tables.py

# Throughput of the training scripts, each in its framework's environment.
bench-training: .venv/.demo .venvs/sb3/.installed .venvs/rllib/.installed
	$(BIN)/python -m iszoo.benchmarks.scripts
	$(BIN)/python docs/make_tables.py

format: .venv/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venvs build dist site src/*.egg-info .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis reports
	find . -name __pycache__ -prune -exec rm -rf {} +

# --- Speed beside other libraries ---

.PHONY: bench-peers bench-scaling bench-profile bench-check

# The other libraries, each in an environment of its own; some 4 GB, and half an hour with their installation. On a machine
# that has nothing else to do. Rough figures: make bench-peers QUICK=--quick
PEERS := pettingzoo openspiel pgx envpool sb3
PEER_pettingzoo := pettingzoo[classic]==1.27.0
PEER_openspiel := open_spiel==2.0.2
PEER_pgx := pgx==2.6.0 jax==0.10.2 jaxlib==0.10.2
PEER_envpool := envpool==1.2.5
PEER_sb3 := torch stable-baselines3==2.9.2 sb3-contrib==2.9.2 pettingzoo[classic]==1.27.0 --editable .

bench-peers: .venv/.plots $(PEERS:%=.venvs/peers-%/.installed)
	$(BIN)/python -m iszoo.benchmarks.peers $(QUICK)

bench-scaling: .venv/.plots
	$(BIN)/python -m iszoo.benchmarks.scaling $(QUICK)

bench-profile: .venv/.demo
	$(BIN)/python -m iszoo.benchmarks.profile $(QUICK)

# Has anything become slower than what is published? For a person to run: it needs a quiet machine.
bench-check: .venv/.demo
	$(BIN)/python -m iszoo.benchmarks.check

.venv/.plots: .venv/.demo
	$(PIP) --editable '.[plots]'
	touch $@

.venvs/peers-%/.installed: constraints.txt
	$(PYTHON) -m venv .venvs/peers-$*
	.venvs/peers-$*/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		$(PEER_$*)
	touch $@

.PRECIOUS: .venvs/peers-%/.installed

# --- Releasing ---

.PHONY: release release-check test-pythons

# Builds dist/ from the commit, or says what stands against it. docs/releasing.md is the whole list.
release: .venv/.test
	$(BIN)/python scripts/release.py

release-check: .venv/.test
	$(BIN)/python scripts/release.py --check

# The wheel on each supported Python that is here, with nothing pinned. PYTHONS="3.12 3.13" for some of them.
test-pythons: .venv/.test
	$(BIN)/python scripts/try_pythons.py $(PYTHONS)

# --- Long checks, for a person to run ---

.PHONY: mutation soak

mutation: .venv/.test
	$(BIN)/python -m tests.mutation --all --write

soak: .venv/.test
	$(BIN)/python -m tests.soak --minutes 60
