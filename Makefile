# `make demo` and `make test` set up all they need in .venv; the rest uses what they set up.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Each framework in its own environment with its own pins: they can't all share one.
FRAMEWORKS ?= sb3 rllib torchrl tianshou agilerl
PIN_sb3 := stable-baselines3==2.9.2 sb3-contrib==2.9.2
PIN_rllib := ray[rllib]==2.60.0 gymnasium==1.2.2
PIN_torchrl := torchrl==0.14.1
PIN_tianshou := tianshou==2.0.1
PIN_agilerl := agilerl==2.58.0 peft pettingzoo<1.27

# What runs with the kernels as plain Python, hundreds of times slower: enough to reach every line of the rules.
NOJIT := tests/test_differential.py tests/envs tests/test_registry.py tests/test_perft.py \
	$(addprefix tests/conformance/test_,endings.py bytes.py bad_input.py bad_batches.py resample.py)

.PHONY: demo test test-frameworks lint types suite nojit bench format clean

demo: .venv/.demo
	$(BIN)/iszoo demo

test: .venv/.test lint types suite nojit

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "iszoo needs Python 3.10 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv

# pettingzoo[classic] is what PettingZoo's own connect four needs, beside which ours is measured.
.venv/.demo: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[cli,peers]'
	touch $@

.venv/.test: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[cli,peers,test]'
	touch $@ .venv/.demo

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.test
	$(BIN)/mypy -p iszoo -p tests.oracle

suite: .venv/.test
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

# The kernels as plain Python: the same results, and the only way to see which lines the tests reach.
nojit: .venv/.test
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest --quiet --numprocesses 2 --dist worksteal \
		--cov=src/iszoo/envs --cov-branch --cov-report=term-missing:skip-covered $(NOJIT)

# The openspiel, Gymnasium and PettingZoo tests run with the suite.
test-frameworks: $(FRAMEWORKS:%=test-framework-%)

test-framework-%: .venvs/%/.installed
	OMP_NUM_THREADS=1 .venvs/$*/bin/python -m pytest -W default --confcutdir tests/frameworks tests/frameworks/test_$*.py

.venvs/%/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venvs/$*
	.venvs/$*/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		torch $(PIN_$*:%='%') pytest --editable .
	touch $@

.PRECIOUS: .venvs/%/.installed

bench: .venv/.demo
	$(BIN)/python -m iszoo.benchmarks.throughput

format: .venv/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venvs build dist src/*.egg-info .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis reports
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
