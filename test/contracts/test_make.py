# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Makefile: what `make soak` runs, in which order, and that it goes on after a failure."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = """#!/bin/sh
[ "$1" = -m ] || exit 0
echo "ran $*"
case "$*" in *{failing}*) exit 3;; esac
"""


@pytest.mark.parametrize('failing', ['faults', 'balance', 'mpc', 'nothing'])
def test_soak__runs_faults_then_all_that_must_balance_whatever_fails(failing, tmp_path):
    shutil.copy(ROOT / 'Makefile', tmp_path)
    for path, text in (('.venv/bin/python', PYTHON), ('tools/setup.sh', '#!/bin/sh\n')):
        file = tmp_path / path
        file.parent.mkdir(parents=True)
        file.write_text(text.format(failing=failing))
        file.chmod(0o755)
    environment = {'PATH': os.environ['PATH']}
    found = subprocess.run(
        ['make', 'soak'], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    ran = [line for line in found.stdout.splitlines() if line.startswith('ran ')]
    modules = [line.split()[2] for line in ran]
    assert modules == ['pytest', 'geolin_ros.balance', 'examples.mpc'], found.stdout + found.stderr
    assert '--thorough' in ran[1]
    assert (found.returncode != 0) == (failing != 'nothing')
