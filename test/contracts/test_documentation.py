# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site: each page in its table of contents, each public name on a page.

`make docs` builds it and takes warnings as errors; what it would miss is looked for here.
"""

import pkgutil
import re
from pathlib import Path

import pytest
import yaml

import geolin_ros
from docs.citations import citing, computed_by

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / 'docs'
INDEX = (DOCS / 'index.md').read_text(encoding='utf-8')
PAGES = [ROOT / 'CONTRIBUTING.md', *sorted(DOCS.rglob('*.md')), DOCS / 'papers.yaml']
TREES = re.findall(r'```\{toctree\}\n((?:.|\n)*?)```', INDEX)


def test_pages__are_listed_once():
    listed = [entry for tree in TREES for entry in re.findall(r'^[\w/]+$', tree, re.MULTILINE)]
    pages = [path.relative_to(DOCS).with_suffix('') for path in DOCS.rglob('*.md')]
    assert sorted(listed) == sorted({*map(str, pages)} - {'index'})


def test_pages__are_few_and_short():
    pages = [*DOCS.rglob('*.md')]
    assert len(pages) <= 24
    words = sum(len(page.read_text(encoding='utf-8').split()) for page in pages)
    assert words <= 26_000


def test_rooms__of_all_public_names_are_in_the_reference():
    text = (DOCS / 'python.md').read_text(encoding='utf-8')
    rooms = set(re.findall(r'^   (geolin_ros\.\w+)$', text, re.MULTILINE))
    homes = {'.'.join(home.split('.')[:2]) for home in geolin_ros._HOMES.values()}
    assert homes <= rooms
    for room in rooms:
        assert list((ROOT / 'geolin_ros').glob(f'{room.rpartition(".")[2]}*')), room


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_what_a_page_names__exists(page):
    """Objects, tests, files and sources."""
    text = page.read_text(encoding='utf-8')
    for name in set(re.findall(r'`(geolin_(?:ros|papers)(?:\.\w+)+)`', text)):
        pkgutil.resolve_name(name)
    written = '\n'.join(path.read_text(encoding='utf-8') for path in ROOT.glob('test/**/*.py'))
    for name in re.findall(r'`(test_\w+__\w+)`', text):
        assert f'def {name}(' in written, name
    for file in re.findall(r'`((?:test|examples|geolin_ros|docs)/[\w/.]+)`', text):
        assert (ROOT / file).exists(), file
    references = (DOCS / 'algorithms.md').read_text(encoding='utf-8')
    for key in re.findall(r'\[([A-Z]\w+ (?:19|20)\d\d)[,\]]', text.replace('[REP ', '')):
        assert f'\n- [{key}] ' in references, key


def test_rows_of_papers__are_cited_by_what_computes_them_or_say_where():
    for paper, parts in yaml.safe_load((DOCS / 'papers.yaml').read_text(encoding='utf-8')).items():
        cited = citing(paper)
        for title, where in parts['rows'].items():
            assert where or computed_by(title, cited), (paper, title)
