# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What `make` targets set up, run and keep."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.set_up import SOURCES, setup_of

ROOT = Path(__file__).resolve().parents[2]
SAY = '#!/bin/sh\n[ "$1" = -c ] && exit\necho "ran ${0##*/} $*"\n'
TABLE = """\
1 of 2 cases stand.

What columns mean.

| case | LQR |
| --- | --- |
| 4 feet | stands |
"""


@pytest.fixture
def make(tmp_path):
    """Return a function that runs make in a copy of the Makefile, whose programs only print."""
    shutil.copy(ROOT / 'Makefile', tmp_path)
    shutil.copytree(ROOT / 'requirements', tmp_path / 'requirements')
    for path in ('.venv/bin/python', 'tools/setup.sh'):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(SAY)
        (tmp_path / path).chmod(0o755)

    def run(*words):
        done = subprocess.run(
            ['make', *words],
            cwd=tmp_path,
            env={'PATH': os.environ['PATH']},
            capture_output=True,
            text=True,
        )
        return [line[4:] for line in done.stdout.splitlines() if line.startswith('ran ')]

    return run


@pytest.mark.parametrize(
    ('target', 'levels'),
    [
        ('demo', ['demo']),
        ('balance', ['simulation']),
        ('mpc', ['simulation']),
        ('walk ROBOT=go2', ['simulation', 'robots']),
        ('docs', ['documentation']),
        ('view', ['view']),
        ('test', ['']),
    ],
)
def test_targets__set_up_what_they_need(target, levels, make):
    ran = make(*target.split())
    assert [line[9:] for line in ran if line.startswith('setup.sh')] == levels


# ---- tools/evidence.py


@pytest.mark.skipif(not (ROOT / '.git').exists(), reason='this is no checkout')
@pytest.mark.parametrize('status', [0, 1])
def test_table_of_a_command__is_kept_with_its_commit_whatever_came_of_it(status, tmp_path):
    write = f'import sys; open(sys.argv[2], "w").write({TABLE!r}); sys.exit({status})'
    tool = [sys.executable, ROOT / 'tools' / 'evidence.py', tmp_path / 'kept.md', 'Balance']
    found = subprocess.run([*tool, sys.executable, '-c', write])
    assert found.returncode == status
    page, title, of, *rest = (tmp_path / 'kept.md').read_text().split('\n\n')
    assert (page, title) == ('# Kept', '## Balance')
    assert re.fullmatch(r'Of \d{4}-\d\d-\d\d, commit [0-9a-f]{7,}( with changes)?\.', of)
    assert rest[:-1] == TABLE.split('\n\n')[:-1]
    assert rest[-1] == '|case|LQR|\n|---|---|\n|4 feet|stands|\n'


# ---- tools/setup.sh


def test_demo__installs_no_tests_and_no_simulator_and_tests_the_rest(tmp_path):
    assert [name for name in SOURCES if not (ROOT / name).is_dir()] == []
    done, ran = setup_of(tmp_path, 'demo')
    assert done.returncode == 0, done.stderr
    installed = ' '.join(line for line in ran if ' pip install ' in line)
    for extra, is_in in (('.[plot]', 1), ('ros-kilted.txt', 1), ('test', 0), ('mujoco', 0)):
        assert (extra in installed) == is_in, extra
    for tool in ('compile_kernels.py', 'build_messages.py --python-only'):
        assert ran.count(f'ran tools/{tool}') == 1, tool
    assert setup_of(tmp_path, 'demo')[1] == []
    messages, rest = setup_of(tmp_path)[1]
    assert messages == 'ran tools/build_messages.py', 'C++ too'
    assert rest.endswith('--editable .[test,dev]')
    assert setup_of(tmp_path, 'simulation')[1][0].endswith('--editable .[control,mujoco,plot]')
    assert setup_of(tmp_path, 'party')[0].returncode == 1
