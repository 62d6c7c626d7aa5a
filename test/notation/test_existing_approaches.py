# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""[Bos 2022, Table 1]: each approach, computed its own way, gives the A that Pinocchio gives."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from support.close import assert_close

from examples import compare_representations as comparison
from examples import existing_approaches as example

DOCUMENT = Path(__file__).parents[2] / 'docs' / 'algorithms.md'
CASADI = pytest.mark.skipif(
    find_spec('casadi') is None, reason='CasADi is not installed: pip install casadi'
)
INEXACT = 1e-5
PARTS = {  # row of the table: what is singular at pitch 90, how far A may be off
    'any Lie group, differences of order 6': (False, 1e-10),
    'dense Jacobians, NumPy': (False, 1e-12),
    'forward dynamics alone': None,
    '37 forward dynamics, forward': (False, INEXACT),
    'symbolic by CasADi, Euler angles': (True, 1e-12),
    'of RNEA by CasADi, Euler angles': (True, 1e-12),
    'of RNEA by CasADi, quaternion': (False, 1e-12),
    'Pinocchio, Euler angles as six joints': (True, 1e-12),
    'its tables, NumPy': (False, 1e-12),
    'geolin_ros': (False, 1e-12),
}


@pytest.fixture(scope='module')
def robot():
    return example.Somersault()


@pytest.fixture(scope='module')
def approaches(robot):
    return {approach.here: approach for approach in example.approaches(robot)}


@pytest.mark.shows('Bos 2022: Table 1')
@pytest.mark.parametrize(
    'here',
    [
        pytest.param(name, marks=CASADI if 'CasADi' in name else ())
        for name, part in PARTS.items()
        if part is not None
    ],
)
def test_approach__gives_pinocchios_linearization_where_it_has_one(robot, approaches, here):
    singular, limit = PARTS[here]
    angles = (-20.0, 40.0, 130.0, 180.0, 90.0)
    *errors, at_singularity = (example.error(robot, approaches[here], angle) for angle in angles)
    if singular:
        assert at_singularity > 1.0
    else:
        errors.append(at_singularity)
    if limit == INEXACT:
        assert max(errors) < limit
    else:
        assert_close(errors, np.zeros(len(errors)), limit, scale=1.0)


@CASADI
@pytest.mark.shows('Bos 2022: Table 1')
def test_table__of_the_document_has_these_rows_and_answers(robot):
    judged = [example.judge(robot, approach, 1e-3) for approach in example.approaches(robot)]
    rows = example.table(judged).splitlines()[2:]
    assert [row.approach.here for row in judged] == list(PARTS)
    written = DOCUMENT.read_text(encoding='utf-8')
    for row in rows:
        answers = ' | '.join(row.split(' | ')[:6])
        assert f'\n{answers} | ' in written, answers


ROOT = Path(__file__).parents[2]


def test_comparison__writes_the_picture_and_the_table(tmp_path, capsys):
    comparison.main(['--step', '45', '--output', str(tmp_path / 'found.png')])
    assert (tmp_path / 'found.png').read_bytes().startswith(b'\x89PNG')
    written = (tmp_path / 'found.md').read_text()
    assert written in capsys.readouterr().out
    assert answers(written) == answers((ROOT / 'docs' / 'algorithms.md').read_text())


def answers(text):
    """Return name, four answers and number of states of every row of the table."""
    names = ('Euler angles, exact', 'Quaternion with', 'Finite differences on', 'geolin_ros')
    rows = [line.split(' | ')[:6] for line in text.splitlines() if line.startswith('| ')]
    found = [row for row in rows if len(row) == 6 and row[0][2:].startswith(names)]
    assert len(found) == 4
    return found
