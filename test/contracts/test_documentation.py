# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site: each page in its table of contents, each public name on a page.

`make docs` builds it and takes warnings as errors; what it would miss is looked for here.
"""

import re
from pathlib import Path

import geolin_ros

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / 'docs'
INDEX = (DOCS / 'index.md').read_text(encoding='utf-8')
TREES = re.findall(r'```\{toctree\}\n((?:.|\n)*?)```', INDEX)


def test_pages__are_listed_once():
    listed = [entry for tree in TREES for entry in re.findall(r'^[\w/]+$', tree, re.MULTILINE)]
    pages = [path.relative_to(DOCS).with_suffix('') for path in DOCS.rglob('*.md')]
    assert sorted(listed) == sorted({*map(str, pages), 'api'} - {'index'})


def test_pages__are_few_and_short():
    pages = [*DOCS.rglob('*.md'), DOCS / 'api.rst']
    assert len(pages) <= 24
    words = sum(len(page.read_text(encoding='utf-8').split()) for page in pages)
    assert words <= 26_000


def test_sections__are_by_what_people_want():
    captions = [re.search(r':caption: (.*)', tree)[1] for tree in TREES]
    assert captions == ['Start', 'How-to', 'Reference', 'Explanation']


def test_rooms__of_all_public_names_are_in_the_reference():
    text = (DOCS / 'api.rst').read_text(encoding='utf-8')
    rooms = set(re.findall(r'^   (geolin_ros\.\w+)$', text, re.MULTILINE))
    homes = {'.'.join(home.split('.')[:2]) for home in geolin_ros._HOMES.values()}
    assert homes <= rooms
    for room in rooms:
        assert list((ROOT / 'geolin_ros').glob(f'{room.rpartition(".")[2]}*')), room


def test_first_page__has_the_example_of_readme():
    def example(path):
        return re.findall(r'```python\n(.*?)```', path.read_text(encoding='utf-8'), re.DOTALL)

    assert example(DOCS / 'index.md') == example(ROOT / 'README.md')


def test_rosdoc2__finds_the_source():
    text = (ROOT / 'rosdoc2.yaml').read_text(encoding='utf-8')
    (folder,) = re.findall(r"sphinx_sourcedir: '(\w+)'", text)
    assert (ROOT / folder / 'conf.py').is_file()
