# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What README.md and the pages it leads to promise."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / 'README.md').read_text()
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted((ROOT / 'docs').rglob('*.md'))]


def blocks(text, language):
    return re.findall(rf'^```{language}\n(.*?)^```', text, re.DOTALL | re.MULTILINE)


def test_readme__is_read_in_five_minutes():
    assert len(README.split()) <= 1200


def test_python_example__runs(capsys):
    (example,) = blocks(README, 'python')
    assert len(example.splitlines()) <= 8
    exec(compile(example, 'README.md', 'exec'), {})
    assert capsys.readouterr().out.startswith('(36, 36) (36, 12) [')


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_links__lead_somewhere(page):
    for target in re.findall(r'\]\(([^)#]+)[^)]*\)', page.read_text()):
        if '://' not in target:
            assert (page.parent / target).exists(), f'{page.name} links to {target}'


def test_make_targets__exist():
    makefile = (ROOT / 'Makefile').read_text()
    targets = set(re.findall(r'^([a-z-]+):', makefile, re.MULTILINE))
    commands = r'(?:^    |`)make ([a-z-]+)((?: [A-Z]+=\S+)*)'
    assert {'demo', 'test', 'setup'} <= {name for name, _ in re.findall(commands, README, re.M)}
    for page in PAGES:
        for name, values in re.findall(commands, page.read_text(), re.MULTILINE):
            assert name in targets, f'{page.name}: make {name}'
            for variable in re.findall(r'([A-Z]+)=', values):
                assert f'$({variable}' in makefile, f'{page.name}: {variable}='


@pytest.mark.parametrize(
    ('page', 'programs'),
    [
        (
            'simulation.md',
            [
                'geolin_demos.balance',
                'geolin_demos.balance.robot',
                *(f'benchmarks.balance_{name}' for name in ('odometry', 'redesign')),
                'mpc',
            ],
        ),
        ('walk.md', ['geolin_demos.walk', 'geolin_walking.walking_node']),
    ],
)
def test_options_of_pages__are_those_of_the_programs(page, programs):
    text = (ROOT / 'docs' / page).read_text()
    for program in re.findall(r'python -m ([\w.]+)', text):
        assert program in programs
    known = ''.join(
        subprocess.run(
            [sys.executable, '-m', program, '--help'],
            cwd=ROOT,
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for program in programs
    )
    option = r'(?<![\w-])--[a-z]+'
    assert set() < set(re.findall(option, text)) <= set(re.findall(option, known))


def test_python_of_the_contacts_page__holds_together():
    names = {}
    for example in blocks((ROOT / 'docs' / 'contacts.md').read_text(), 'python'):
        exec(compile(example, 'docs/contacts.md', 'exec'), names)
    C, R = names['C'], names['R']  # C on four feet, R on three
    assert (C.rank, C.wrenches.shape, R.full.rank) == (12, (12,), 9)
    assert (R.A.shape, R.P.shape, R.W.shape) == ((18, 18), (36, 18), (9, 18))


def test_topics__are_those_of_the_node():
    code = ''.join(file.read_text() for file in (ROOT / 'geolin_ros' / 'ros').glob('*.py'))
    page = (ROOT / 'docs' / 'linearizer.md').read_text()
    topics = re.findall(r'^\| `([~/a-z_]+)` \| \w+_msgs/\w+ \|', page, re.MULTILINE)
    assert len(topics) == 10
    for topic in topics:
        assert f"'{topic}'" in code, f'docs/linearizer.md names topic {topic}'


def test_python_of_the_message_page__reads_messages():
    from support.messages import linearized_dynamics

    from geolin_ros import TreeModel, robots
    from geolin_ros.stream.inputs.settings import StreamSettings
    from geolin_ros.stream.outputs.messages import LinearizationWriter

    model = TreeModel.from_urdf(robots.path('quadruped'))
    message = LinearizationWriter(linearized_dynamics(), model, StreamSettings()).message
    names = {'message': message}
    examples = blocks((ROOT / 'docs' / 'message.md').read_text(), 'python')
    assert examples
    for example in examples:
        exec(compile(example, 'docs/message.md', 'exec'), names)
    assert names['A'].shape == (36, 36)
    assert (names['columns'][0], names['inputs'][0]) == ('H.x', 'tau.FL_hip_joint')
