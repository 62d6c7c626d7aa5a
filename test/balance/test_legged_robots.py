# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots that nobody tuned for, from their URDF to standing or to a sentence that says why not.

`make robots` runs the last test here, which keeps its table as docs/evidence/robots.md.
"""

import json
import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from support.legged import LEGGED
from support.robots import FOLDER

from tools import evidence

pytest.importorskip('mujoco')
pytest.importorskip('trimesh')
if not FOLDER.is_dir():
    pytest.skip('example-robot-data is not installed', allow_module_level=True)

from geolin_demos.balance.cases import cases_of
from geolin_demos.balance.robots import ARMATURE, overlay, simulator_of

from geolin_ros.errors import ConfigurationError

PUSHES = os.environ.get('GEOLIN_ROBOT_PUSHES', '8')
TEXT = f"""`make robots`: `geolin analyze-modes` and `make balance` ({PUSHES} pushes a case, over
DDS in lock step) of the legged robots of example-robot-data; rotors {ARMATURE} kg m2, motors of
solo and solo12 2.7 N m. Feet and expected results: `test/support/legged.py`.
{{count}} of {len(LEGGED)} robots, {{minutes:.0f}} minutes; cases: {{counted}}.
"""
OFTEN = 'a1/a1', 'solo/solo', 'solo/solo12', 'bolt/bolt', 'romeo/romeo', 'romeo/romeo_small'
"""One of each outcome, and what other tests do not stand on."""
HEAD = 'robots', 'controllable, stabilizable', 'cases'


def in_short(sentence):
    """Return what a sentence states, without the remedy, names of robots and feet, and figures."""
    ends = r';|: (?:give|it has|joint|missed|the (?:coll|vis))|, (?:expected|at their)|\. Stand'
    short = re.split(ends, sentence)[0]
    return re.sub(r"(?: of)? robot '\S+'", '', re.sub(r"foot '\S+'", 'a foot', short))


def outcome_of(cases):
    """Return what came of the cases, those alike together."""
    names = {}
    for name, found in cases.items():
        names.setdefault(in_short(found), []).append(name)
    return '; '.join(f'{", ".join(alike)}: {found}' for found, alike in names.items())


def joined(rows):
    """Return the rows, robots of which all is alike in one."""
    robots, names = {}, [row[0].partition('/')[2] for row in rows]
    for name, (path, *found) in zip(names, rows, strict=True):
        robots.setdefault(tuple(found), []).append(path if names.count(name) > 1 else name)
    return [(', '.join(alike), *found) for found, alike in robots.items()]


@pytest.mark.parametrize(
    'robot',
    [
        pytest.param(robot, id=robot.name, marks=() if robot.name in OFTEN else pytest.mark.soak)
        for robot in LEGGED
    ],
)
def test_robot__can_do_what_is_listed_or_is_refused_by_that_sentence(robot):
    given = str(FOLDER / robot.path), robot.feet.replace(' ', ','), robot.effort_limit
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        if robot.refused:
            with pytest.raises(ConfigurationError, match=robot.refused):
                simulator_of(*given)
            return
        simulator = simulator_of(*given)
    found = cases_of(simulator)
    assert sorted(case.name for case in found.feasible) == sorted(robot.stands + robot.falls)
    assert found.infeasible.keys() == robot.infeasible.keys()
    for name, pattern in robot.infeasible.items():
        assert re.search(pattern, found.infeasible[name])


def analysed(robot, rotors):
    """Return exit status and what `geolin analyze-modes` says, in a few words."""
    command = [Path(sys.executable).with_name('geolin'), 'analyze-modes', FOLDER / robot.path]
    command += ['--json', '--overlay', rotors, '--contacts', *robot.feet.split()]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    if not done.stdout:
        return done.returncode, done.stderr.strip().splitlines()[-1]
    modes = json.loads(done.stdout)['modes']
    verdict = 'stabilizable' if modes['stabilizable'] else 'NOT stabilizable'
    return done.returncode, f'{modes["controllable"]} of {modes["states"]} controllable, {verdict}'


def balanced(robot, folder):
    """Return what came of each case of `make balance`, or the sentence by which it ended."""
    table = folder / 'table.md'
    table.unlink(missing_ok=True)
    limit = [] if robot.effort_limit is None else [f'--effort-limit={robot.effort_limit}']
    done = subprocess.run(
        [
            sys.executable, '-m', 'geolin_demos.balance', '--robot', str(FOLDER / robot.path),
            '--feet', robot.feet.replace(' ', ','), '--pushes', PUSHES, '--skip-largest',
            '--table', str(table), '--output', str(folder / 'picture.png'),
            *limit,
        ],
        capture_output=True,
        text=True,
    )  # fmt: skip
    if not table.exists():
        return done.returncode, {}, done.stderr.strip().splitlines()[-1]
    text = table.read_text()
    lines = [line.split(' | ') for line in text.splitlines() if line.startswith('| ')]
    rows = [[cell.strip() for cell in line] for line in lines]
    cases = {row[1]: row[3] for row in rows[2:]}
    refused = re.findall(r'^- infeasible: [^,]*, ([^:]*): (.*)$', text, re.MULTILINE)
    return done.returncode, cases | {name: f'infeasible: {why}' for name, why in refused}, ''


@pytest.mark.ros
@pytest.mark.soak
def test_legged_robots__stand_or_are_refused_as_listed(evidence_folder, tmp_path):
    pytest.importorskip('geolin_msgs.msg')
    rotors, begun, start = tmp_path / 'rotors.yaml', evidence.provenance(), time.monotonic()
    rotors.write_text(overlay())
    rows, odd, counts = [], [], dict.fromkeys(('stands', 'falls', 'infeasible', 'refused'), 0)
    for robot in LEGGED:
        analysis, verdict = analysed(robot, rotors)
        status, cases, sentence = balanced(robot, tmp_path)
        expected = dict.fromkeys(robot.stands, '(stands)') | dict.fromkeys(
            robot.falls, '(falls|swings)'
        )
        expected |= {name: f'(infeasible).*{why}' for name, why in robot.infeasible.items()}
        for name in expected.keys() | cases.keys():
            found = cases.get(name, 'never ran')
            if not re.match(expected.get(name, 'nothing'), found):
                odd.append(f'{robot.name}, {name}: {found}')
            kind = found.split(' ')[0].rstrip(':').replace('swings', 'falls')
            counts[kind] = counts.get(kind, 0) + 1
        if bool(robot.refused) != bool(sentence) or not re.search(robot.refused, sentence):
            odd.append(f'{robot.name}: {sentence or "not refused"}')
        if robot.refused and not re.search(robot.refused, verdict):
            odd.append(f'{robot.name}, analyze-modes: {verdict}')
        counts['refused'] += bool(sentence)
        states = '' if sentence else verdict.replace(' controllable, stabilizable', '')
        outcome = outcome_of(cases) or f'refused: {in_short(sentence)}'
        rows.append((robot.name, states, outcome.replace(str(FOLDER), '...')))
        if robot.refused and (analysis, status) != (1, 1):
            odd.append(f'{robot.name}: status {analysis} and {status}, expected 1')
        if evidence_folder is not None:  # a table that grows: the whole takes long
            lines = evidence.table(HEAD, joined(rows))
            minutes = (time.monotonic() - start) / 60.0
            counted = ', '.join(f'{count} {kind}' for kind, count in counts.items())
            text = TEXT.format(count=len(rows), minutes=minutes, counted=counted)
            evidence.write(evidence_folder / 'robots.md', 'Legged robots', text, lines, begun)
    assert not odd, '\n'.join(odd)
