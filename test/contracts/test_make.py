# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Makefile: what `make soak` runs, what comes of it, and what checks the product from outside."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.set_up import SOURCES, setup_of

from tools import evidence

ROOT = Path(__file__).resolve().parents[2]
TABLE = """\
1 of 2 cases stand.

What columns mean.

| case | LQR |
| --- | --- |
| 4 feet | stands |
"""
PYTHON = """#!/bin/sh
[ "$1" = -c ] && exit 0
echo "ran $*"
case "$*" in *{failing}*) exit 3;; esac
"""


def make_checkout(folder, programs):
    """Copy the Makefile beside programs: {path: text}."""
    shutil.copy(ROOT / 'Makefile', folder)
    for path, text in programs.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)


def make(folder, *targets):
    """Return what make did, of no environment but the path."""
    environment = {'PATH': os.environ['PATH']}
    command = ['make', *targets]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize('failing', ['faults', 'nothing'])
def test_soak__runs_faults_then_all_that_must_balance_whatever_fails(failing, tmp_path):
    python = PYTHON.format(failing=failing)
    make_checkout(tmp_path, {'.venv/bin/python': python, 'tools/setup.sh': '#!/bin/sh\n'})
    found = make(tmp_path, 'soak')
    ran = [line for line in found.stdout.splitlines() if line.startswith('ran ')]
    modules = [re.findall(r'-m ([\w.]+)', line)[0] for line in ran]
    expected = ['pytest', 'pytest', 'geolin_demos.balance', 'mpc']
    assert modules == expected, found.stdout + found.stderr
    assert ran[0].endswith('test/ros/faults')
    assert ran[1].endswith('--ignore test/ros/faults test')
    assert 'tools/evidence.py docs/evidence/robots.md Balance ' in ran[2]
    assert '--thorough' in ran[2]
    assert (found.returncode != 0) == (failing != 'nothing')


@pytest.mark.skipif(not (ROOT / '.git').exists(), reason='this is no checkout')
@pytest.mark.parametrize('status', [0, 1])
def test_table_of_a_command__is_kept_with_its_commit_whatever_came_of_it(status, tmp_path):
    write = f'import sys; open(sys.argv[2], "w").write({TABLE!r}); sys.exit({status})'
    tool = [sys.executable, ROOT / 'tools' / 'evidence.py', tmp_path / 'kept.md', 'Balance']
    found = subprocess.run([*tool, sys.executable, '-c', write])
    assert found.returncode == status
    page, title, of, *rest = (tmp_path / 'kept.md').read_text().split('\n\n')
    commit = subprocess.run(
        ['git', 'rev-parse', '--short', 'HEAD'], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    assert (page, title) == ('# Kept', '## Balance')
    assert re.fullmatch(rf'Of \d{{4}}-\d\d-\d\d, commit {commit}( with changes)?\.', of)
    assert rest[:-1] == TABLE.split('\n\n')[:-1]
    assert rest[-1] == '|case|LQR|\n|---|---|\n|4 feet|stands|\n'


def test_table_that_was_begun_elsewhere__gives_both_and_leaves_other_sections(tmp_path):
    page = tmp_path / 'kept.md'
    for title, cell in (('S', 'a'), ('T', 'b'), ('S', 'c')):
        evidence.write(page, title, 'text', [f'| {cell} |'], 'Of 2001-01-01, commit 1234567.')
    text = page.read_text()
    assert text.count('\nBegun 2001-01-01, commit 1234567; ended 2') == 2
    assert re.findall(r'^## \w|^\| \w', text, re.MULTILINE) == ['## S', '| c', '## T', '| b']


@pytest.mark.parametrize('target', ['fuzz', 'sbom', 'audit'])
def test_checks__are_installed_beside_the_product_once(target, tmp_path):
    shutil.copytree(ROOT / 'requirements', tmp_path / 'requirements')
    say = '#!/bin/sh\necho "ran ${0} $*"\n'
    make_environment = (
        'case "$*" in *venv*)\n'
        'mkdir -p .venv/checks/bin; for name in python cyclonedx-py pip-audit; do\n'
        'cp .venv/say .venv/checks/bin/$name; done\nesac\n'
    )
    programs = {'.venv/say': say, '.venv/bin/python': say + make_environment}
    make_checkout(tmp_path, programs | {'tools/setup.sh': '#!/bin/sh\n'})

    def ran():
        done = make(tmp_path, target)
        assert done.returncode == 0, done.stderr
        return [line for line in done.stdout.splitlines() if line.startswith('ran ')]

    first, again = ran(), ran()
    assert first[0] == 'ran .venv/bin/python -m venv --clear .venv/checks'
    assert first[1].startswith('ran .venv/checks/bin/python -m pip install ')
    assert '-c requirements/constraints.txt' in first[1]
    assert again == first[2:]
    assert not any('.venv/bin/python -m pip' in line for line in first)
    if target == 'sbom':
        assert again[0].endswith(' .venv/bin/python'), 'what is listed is the product'
    if target == 'audit':
        assert ' --strict ' in again[0], 'what cannot be looked up would count as good'


def test_demo__installs_no_tests_and_no_simulator_and_compiles_once(tmp_path):
    done, ran = setup_of(tmp_path, 'demo')
    assert done.returncode == 0, done.stderr
    installed = ' '.join(line for line in ran if ' pip install ' in line)
    assert '.[plot]' in installed
    assert 'ros-kilted.txt' in installed
    for extra in ('test', 'dev', 'mujoco', 'offline'):
        assert extra not in installed, extra
    for tool in ('compile_kernels.py', 'build_messages.py --python-only'):
        assert sum(line == f'ran tools/{tool}' for line in ran) == 1, tool
    assert setup_of(tmp_path, 'demo')[1] == []


def test_tests__install_the_rest_when_they_are_wanted(tmp_path):
    setup_of(tmp_path, 'demo')
    _, ran = setup_of(tmp_path)
    assert len(ran) == 2
    assert ran[0] == 'ran tools/build_messages.py', 'C++ too'
    assert ran[1].endswith('--editable .[test,dev]')
    assert setup_of(tmp_path, 'demo')[1] == []
    assert setup_of(tmp_path, 'simulation')[1][0].endswith('--editable .[control,mujoco,plot]')


def test_setup_of_something_unknown__is_refused(tmp_path):
    done, _ = setup_of(tmp_path, 'party')
    assert done.returncode == 1
    assert (
        "'party' is nothing to set up, expected demo, robots, simulation, documentation, view"
        in done.stderr
    )


def test_distribution__is_that_of_the_wheels_asked_for_and_stays(tmp_path):
    for variables in ({'DISTRO': 'jazzy'}, {}):
        done, ran = setup_of(tmp_path, 'demo', **variables)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / '.venv' / 'ros_distribution').read_text() == 'wheels-of-jazzy\n'
    assert ran == []
    pins = (tmp_path / '.venv' / 'constraints.txt').read_text().splitlines()
    assert 'numpy==1.26.4' in pins
    of_others = ('ros-', 'pandas=', 'zarr=')  # those of Kilted and of NumPy 2
    assert not any(line.startswith(of_others) for line in pins)
    done, _ = setup_of(tmp_path / 'other', 'demo', DISTRO='foxy')
    assert done.returncode == 1
    assert 'no wheels of DISTRO=foxy, expected kilted or jazzy' in done.stderr


def test_sources_of_the_first_compile__exist():
    assert SOURCES
    for name in SOURCES:
        assert (ROOT / name).is_dir(), name


@pytest.mark.parametrize(
    ('target', 'level'),
    [
        ('demo', 'demo'),
        ('balance', 'simulation'),
        ('mpc', 'simulation'),
        ('walk', 'simulation'),
        ('walk ROBOT=go2', 'simulation robots'),
        ('docs', 'documentation'),
        ('view', 'view'),
        ('test', ''),
        ('lint', ''),
    ],
)
def test_targets__set_up_what_they_need(target, level, tmp_path):
    say = '#!/bin/sh\necho "set up $*"\n'
    make_checkout(tmp_path, {'.venv/bin/python': '#!/bin/sh\n', 'tools/setup.sh': say})
    said = make(tmp_path, *target.split()).stdout
    found = re.findall('^set up(.*)$', said, re.MULTILINE)
    assert ' '.join(part.strip() for part in found) == level
