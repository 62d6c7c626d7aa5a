# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

PYTHON ?= python3
ROBOT ?=
# Set by the Python of an environment for itself; .venv's has to do its own.
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE
export PYTHON

.PHONY: help setup demo test soak lint build bench clean dist licences sbom audit

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

setup:  ## make .venv ready (does nothing when it is)
	@tools/setup.sh

demo: setup  ## robot, linearizer and checking consumer over DDS (ROBOT=path.urdf for your own)
	.venv/bin/python -m geolin_ros.demo $(if $(ROBOT),--robot $(ROBOT))

test: setup  ## the whole test suite
	.venv/bin/python -m pytest -n 2 --dist loadgroup

soak: setup  ## the tests that take long
	.venv/bin/python -m pytest -m soak

lint: setup  ## style, types and layers
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

build: setup  ## both packages with colcon, into install/
	PATH="$(CURDIR)/.venv/bin:$$PATH" colcon build --base-paths . geolin_msgs \
	    --cmake-args -DPython3_EXECUTABLE=$(CURDIR)/.venv/bin/python -DBUILD_TESTING=OFF

bench: setup  ## speed against Pinocchio
	.venv/bin/python -m benchmarks

dist: setup  ## wheel and sdist into dist/, the same bytes from the same commit
	.venv/bin/python tools/dist.py

licences: setup  ## docs/licences.md anew
	.venv/bin/python tools/licences.py > docs/licences.md

sbom: setup  ## dist/sbom.json: all packages of .venv as CycloneDX
	.venv/bin/python -m pip install --quiet -c requirements/constraints.txt cyclonedx-bom
	mkdir -p dist && .venv/bin/cyclonedx-py environment --output-reproducible -o dist/sbom.json

audit: setup  ## known vulnerabilities of the locked versions (asks the PyPI advisory database)
	.venv/bin/python -m pip install --quiet -c requirements/constraints.txt pip-audit
	.venv/bin/pip-audit --no-deps --disable-pip -r requirements/constraints.txt

clean:  ## remove what the targets above made, except .venv
	rm -rf build install log dist .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
