# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""README and the documentation site: what their pages name is there, and their code runs.

`make docs` builds it and takes warnings as errors; what it would miss is looked for here.
"""

import pkgutil
import re
from pathlib import Path

import pytest
import yaml
from support.messages import linearized_dynamics

import geolin_ros
from docs.citations import BESIDE, citing, computed_by
from geolin_ros import TreeModel, robots
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.outputs.messages import LinearizationWriter

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / 'docs'
README = ROOT / 'README.md'
PAGES = sorted(DOCS.rglob('*.md'))
WRITTEN = [README, ROOT / 'CONTRIBUTING.md', *PAGES]
NOTEBOOKS = [page for page in PAGES if page.read_text().startswith('---\njupytext:')]


def run(page, language='python', **names):
    """Run the blocks of a page one after another; return how many, and what they define."""
    fence = rf'^```{language}\n(.*?)^```'
    blocks = re.findall(fence, page.read_text(encoding='utf-8'), re.DOTALL | re.MULTILINE)
    for code in blocks:
        exec(compile(code, page.name, 'exec'), names)
    return len(blocks), names


def test_pages__are_few_and_short_and_the_example_of_readme_runs(capsys):
    assert len(README.read_text().split()) <= 1200
    assert len(PAGES) <= 24
    assert sum(len(page.read_text(encoding='utf-8').split()) for page in PAGES) <= 26_000
    assert run(README)[0] == 1
    assert capsys.readouterr().out.startswith('(36, 36) (36, 12) [')


def test_python_of_pages__holds_together(capsys):
    _, names = run(DOCS / 'contacts.md')
    C, R = names['C'], names['R']  # C on four feet, R on three
    assert (C.rank, C.wrenches.shape, R.full.rank) == (12, (12,), 9)
    assert (R.A.shape, R.P.shape, R.W.shape) == ((18, 18), (36, 18), (9, 18))
    model = TreeModel.from_urdf(robots.path('quadruped'))
    writer = LinearizationWriter(linearized_dynamics(), model, StreamSettings())
    _, names = run(DOCS / 'message.md', message=writer.message)
    assert names['A'].shape == (36, 36)
    assert (names['columns'][0], names['inputs'][0]) == ('H.x', 'tau.FL_hip_joint')
    _, names = run(DOCS / 'control.md')
    assert names['tau'] == pytest.approx(names['gains'].feedforward)
    printed = capsys.readouterr().out
    assert '12 of 12 states controllable, stabilizable' in printed
    assert 'inside the support polygon' in printed


@pytest.mark.parametrize('page', NOTEBOOKS, ids=lambda page: page.stem)
def test_notebook__runs_and_shows_something(page, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert run(page, r'\{code-cell\} python', __name__=page.stem)[0] >= 3
    assert capsys.readouterr().out


@pytest.mark.parametrize('page', WRITTEN, ids=lambda page: page.name)
def test_links_and_targets_of_make__lead_somewhere(page):
    makefile, text = (ROOT / 'Makefile').read_text(), page.read_text()
    for target in re.findall(r'\]\(([^)#]+)[^)]*\)', text):
        assert '://' in target or (page.parent / target).exists(), target
    commands = r'(?:^    |`)make ([a-z-]+)((?: [A-Z]+=\S+)*)'
    for name, values in re.findall(commands, text, re.MULTILINE):
        assert f'\n{name}:' in makefile, f'make {name}'
        for variable in re.findall(r'([A-Z]+)=', values):
            assert f'$({variable}' in makefile, f'{variable}='


def test_rooms_of_all_public_names__are_in_the_reference():
    text = (DOCS / 'python.md').read_text(encoding='utf-8')
    rooms = set(re.findall(r'^   (geolin_ros\.\w+)$', text, re.MULTILINE))
    assert {'.'.join(home.split('.')[:2]) for home in geolin_ros._HOMES.values()} <= rooms


@pytest.mark.parametrize('page', [*WRITTEN[1:], DOCS / 'papers.yaml'], ids=lambda page: page.name)
def test_what_a_page_names__exists(page):
    """Objects, tests, files and sources."""
    text = page.read_text(encoding='utf-8')
    packages = '|'.join(('ros', 'papers', *BESIDE))
    for name in set(re.findall(rf'`(geolin_(?:{packages})(?:\.\w+)+)`', text)):
        pkgutil.resolve_name(name)
    written = '\n'.join(path.read_text(encoding='utf-8') for path in ROOT.glob('test/**/*.py'))
    for name in re.findall(r'`(test_\w+__\w+)`', text):
        assert f'def {name}(' in written, name
    for file in re.findall(rf'`((?:test|examples|geolin_(?:{packages})|docs)/[\w/.]+)`', text):
        assert (ROOT / file).exists(), file


def test_papers_and_rows_of_them__are_listed_and_cited_by_what_computes_them():
    code = [
        file.read_text(encoding='utf-8')
        for room in ('geolin_*', 'examples')
        for file in ROOT.glob(f'{room}/**/*.py')
    ]
    text = '\n'.join([*code, *(page.read_text(encoding='utf-8') for page in PAGES)])
    references = (DOCS / 'algorithms.md').read_text(encoding='utf-8')
    keys = set(re.findall(r'\[([A-Z]\w+ (?:19|20)\d\d)\b', text.replace('[REP ', '')))
    assert [key for key in keys if f'\n- [{key}] ' not in references] == []
    for paper, parts in yaml.safe_load((DOCS / 'papers.yaml').read_text(encoding='utf-8')).items():
        cited = citing(paper)
        for title, where in parts['rows'].items():
            assert where or computed_by(title, cited), (paper, title)
