# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

PYTHON ?= python3
ROBOT ?=
BASE ?=
FEET ?=
REALTIME ?=
HEIGHT ?=
ROBOTS ?=
CASES ?=
BAG ?=
NODE ?=
SPHINXOPTS ?=
comma = ,
# Set by the Python of an environment for itself; .venv's has to do its own.
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE
# Hundreds of processes read the same modules: compile them once.
unexport PYTHONDONTWRITEBYTECODE
export PYTHON
CHECKS = .venv/checks/made

.PHONY: help setup setup-demo setup-robots setup-simulation setup-documentation setup-view demo balance view balance-all mpc check test faults robots papers planted-errors recordings fuzz soak lint docs docs-live build bench clean dist licences sbom audit

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

setup:  ## make .venv ready for all targets (does nothing when it is)
	@tools/setup.sh

setup-demo setup-robots setup-simulation setup-documentation setup-view:  # parts of it, so that the first minutes are short
	@tools/setup.sh $(@:setup-%=%)

# Words without suffix or folder are names; all but the bundled ones are of example-robot-data.
NAMED = $(if $(findstring .,$(ROBOT))$(findstring /,$(ROBOT)),,$(filter-out quadruped humanoid,$(ROBOT)))
demo: setup-demo $(if $(filter %.xml %.mjcf,$(ROBOT)),setup-simulation) $(if $(NAMED),setup-robots)  ## robot, linearizer and checking consumer over DDS (ROBOT=path of your own, or panda; BASE=fixed)
	.venv/bin/python -m geolin_demos.demo $(if $(ROBOT),--robot $(ROBOT)) $(if $(BASE),--base $(BASE))

BALANCE = .venv/bin/python -m geolin_demos.balance \
    $(if $(ROBOT),--robot $(ROBOT)) $(if $(FEET),--feet $(FEET)) $(if $(REALTIME),--realtime) \
    $(if $(HEIGHT),--height $(HEIGHT)) $(if $(CASES),--cases $(CASES))
DATA = $(shell .venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
    )/cmeel.prefix/share/example-robot-data/robots

balance: setup-simulation $(if $(NAMED),setup-robots)  ## robots stand, pushed, in MuJoCo (ROBOT=path FEET=frame,frame,... REALTIME=1)
	$(BALANCE)

.PHONY: walk
walk: setup-simulation $(if $(NAMED),setup-robots)  ## a quadruped trots in MuJoCo, pushed, then a humanoid steps (ROBOT=path FEET=frame,frame,...)
	.venv/bin/python -m geolin_demos.walk $(if $(ROBOT),--robot $(ROBOT)) \
	    $(if $(FEET),--feet $(FEET))

.PHONY: walk-all
walk-all: setup  ## slopes, steps, loads, delay, noise, pushes, 15 robots (ROBOTS="go2 a1" CASES="flat 'four pushes'"): an hour, goes on where it was at this commit; writes docs/evidence/robots.md
	.venv/bin/python tools/evidence.py docs/evidence/robots.md Walking \
	    .venv/bin/python -m benchmarks.walk_bars --robots $(or $(ROBOTS),all) \
	    $(if $(CASES),--cases $(CASES)) --kept build/walk-$$(git rev-parse HEAD).json

.PHONY: walk-compare
walk-compare: setup  ## the trot by A and B, one rigid body, joint PD: half an hour; writes docs/evidence/robots.md
	.venv/bin/python tools/evidence.py docs/evidence/robots.md 'Walking, compared' \
	    .venv/bin/python -m benchmarks.walk_compare

ASKED = $(or $(BAG),$(ROBOT),$(NODE))
view: setup-view  ## a page in the browser: ROBOT=path FEET=frame,frame,..., BAG=folder or NODE=/linearizer
	.venv/bin/geolin view $(if $(ASKED),$(or $(BAG),$(ROBOT)),quadruped) \
	    $(if $(NODE),--node $(NODE)) $(if $(FEET),--contacts $(subst $(comma), ,$(FEET))) \
	    $(if $(ASKED),,--contacts FL_foot FR_foot RL_foot RR_foot)

balance-all: setup  ## three seeds (SEEDS=1), two more robots: 15 min; writes docs/evidence/robots.md
	.venv/bin/python tools/evidence.py docs/evidence/robots.md Balance $(BALANCE) --seeds $(or $(SEEDS),3) \
	    --also $(DATA)/go2_description/urdf/go2.urdf \
	    $(DATA)/g1_description/urdf/g1_29dof_rev_1_0.urdf

mpc: setup-simulation $(if $(NAMED),setup-robots)  ## a quadruped under model predictive control in MuJoCo (ROBOT= FEET= REALTIME=1)
	PYTHONPATH="examples:$$PYTHONPATH" .venv/bin/python -m mpc $(if $(ROBOT),--robot $(ROBOT)) \
	    $(if $(FEET),--feet $(FEET)) $(if $(REALTIME),--realtime)

check: setup  ## what needs no processes and no browser: after each change of a line
	HYPOTHESIS_PROFILE=check .venv/bin/python -m pytest -q -n 2 --dist loadfile \
	    --no-loadscope-reorder -m 'not processes and not long and not soak'

# Workers wait for processes they have started: more of them than processors.
test: setup  ## the whole test suite
	.venv/bin/python -m pytest -n 5 --dist loadfile --no-loadscope-reorder

faults: setup  ## every fault over DDS once; writes docs/evidence/faults.md
	.venv/bin/python -m pytest -n 0 --evidence test/ros/faults

robots: setup  ## every legged robot of example-robot-data; writes docs/evidence/robots.md
	.venv/bin/python -m pytest -n 0 -m soak --evidence test/balance/test_legged_robots.py

.PHONY: strangers
strangers: setup  ## robots of other packages below FOLDER (tools/strangers.py); writes docs/evidence/robots.md
	.venv/bin/python tools/evidence.py docs/evidence/robots.md 'Robots of other packages' \
	    .venv/bin/python tools/strangers.py $(FOLDER)

papers: setup  ## every row of the papers: tests, limits, worst found; writes docs/papers.json
	.venv/bin/python -m pytest -q -n 2 -m shows --paper-table test

planted-errors: setup  ## errors planted in the engine, one by one: the self-check has to find each
	.venv/bin/python tools/planted_errors.py

recordings: setup  ## recordings of real robots in GEOLIN_RECORDINGS; writes docs/evidence/robots.md
	.venv/bin/python tools/evidence.py docs/evidence/robots.md 'Recordings of real robots' \
	    .venv/bin/python tools/recordings.py
	.venv/bin/python tools/evidence.py docs/evidence/robots.md 'Predictions of real robots' \
	    .venv/bin/python tools/predictions.py

fuzz: setup $(CHECKS)  ## readers under bytes of any kind; writes docs/evidence/faults.md (FUZZ_SECONDS=60 each)
	OPENBLAS_NUM_THREADS=1 .venv/bin/python tools/fuzz.py --seconds $(or $(FUZZ_SECONDS),60)

# UDP alone: killed processes can leave shared memory unusable for those that live.
soak: setup  ## an hour of faults (GEOLIN_SOAK_SECONDS), balance-all, mpc
	failed=0; \
	.venv/bin/python -m pytest -m soak --evidence --udp-alone test/ros/faults || failed=1; \
	.venv/bin/python -m pytest -m soak --evidence --ignore test/ros/faults test || failed=1; \
	$(MAKE) balance-all || failed=1; \
	$(MAKE) mpc || failed=1; \
	exit $$failed

lint: setup  ## style, types, layers and words
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/lint-imports --config geolin_tools/.importlinter
	.venv/bin/lint-imports --config geolin_control/.importlinter
	.venv/bin/lint-imports --config geolin_demos/.importlinter
	.venv/bin/lint-imports --config geolin_estimation/.importlinter
	.venv/bin/lint-imports --config geolin_walking/.importlinter
	.venv/bin/python tools/vocabulary.py

docs: setup-documentation  ## the documentation site into build/docs; warnings are errors
	.venv/bin/python -m sphinx -j auto -W --keep-going $(SPHINXOPTS) docs build/docs

docs-live: setup-documentation  ## the same, served on this machine and built again at each change
	.venv/bin/sphinx-autobuild docs build/docs --ignore '*/docs/api/*' $(foreach name,ros control demos estimation tools walking,--watch geolin_$(name))

build: setup  ## all packages with colcon, into install/
	PATH="$(CURDIR)/.venv/bin:$$PATH" colcon build \
	    --cmake-args -DPython3_EXECUTABLE=$(CURDIR)/.venv/bin/python -DBUILD_TESTING=OFF

bench: setup  ## speed against Pinocchio
	.venv/bin/python -m benchmarks

dist: setup  ## wheels and sdists into dist/, the same bytes from the same commit
	.venv/bin/python tools/dist.py

licences: setup  ## docs/licences.csv anew
	.venv/bin/python tools/licences.py > docs/licences.csv

sbom: setup $(CHECKS)  ## dist/sbom.json: all packages of .venv as CycloneDX
	mkdir -p dist && .venv/checks/bin/cyclonedx-py environment --output-reproducible \
	    -o dist/sbom.json .venv/bin/python

audit: setup $(CHECKS)  ## known vulnerabilities of the locked versions (asks the PyPI advisory database)
	.venv/checks/bin/pip-audit --strict --no-deps --disable-pip -r requirements/constraints.txt

# What fuzzes, lists and audits is no part of the product: it has an environment of its own.
$(CHECKS): requirements/checks.txt requirements/constraints.txt | setup
	.venv/bin/python -m venv --clear .venv/checks
	.venv/checks/bin/python -m pip install --quiet -c requirements/constraints.txt \
	    -r requirements/checks.txt
	touch $@

clean:  ## remove what the targets above made, except .venv
	rm -rf build install log dist docs/api .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache geolin_control/build geolin_demos/build geolin_estimation/build geolin_tools/build geolin_walking/build
