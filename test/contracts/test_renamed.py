# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of earlier versions work for one version, with a warning that says the new one."""

import inspect
from pathlib import Path

import pytest

import geolin_ros
from geolin_ros import Contact, Loop, TreeModel, robots
from geolin_ros.renamed import RENAMED

ROOT = Path(__file__).parents[2]
OF_CLASSES = [name for name in RENAMED if name.count('.') == 2]


@pytest.mark.parametrize('old', [name for name in RENAMED if name.count('.') == 1])
def test_old_name_of_the_package__is_the_new_one(old):
    name, new = old.removeprefix('geolin_ros.'), RENAMED[old]
    with pytest.warns(DeprecationWarning, match=f'{old} is now {new}') as caught:
        assert getattr(geolin_ros, name) is getattr(geolin_ros, new)
    assert caught[0].filename == __file__
    assert name not in dir(geolin_ros)


@pytest.mark.parametrize('old', OF_CLASSES)
def test_old_name_of_an_attribute__is_the_new_one(old):
    _, name, field = old.split('.')
    of = {
        'Contact': lambda: Contact('foot', kp=3.0, kd=2.0),
        'Loop': lambda: Loop('foot', 'hand', kp=3.0, kd=2.0),
        'TreeModel': lambda: TreeModel.from_urdf(robots.path('quadruped')),
    }[name]()
    with pytest.warns(DeprecationWarning, match=f'{old} is now {RENAMED[old]}') as caught:
        assert getattr(of, field) == getattr(of, RENAMED[old])
    assert caught[0].filename == __file__


@pytest.mark.parametrize('old', [name for name in OF_CLASSES if 'TreeModel' not in name])
def test_old_name_of_an_argument__is_the_new_one(old):
    _, name, field = old.split('.')
    frames = {'Contact': ('foot',), 'Loop': ('foot', 'hand')}[name]
    with pytest.warns(DeprecationWarning, match=f'{field}=. is now {RENAMED[old]}=') as caught:
        made = getattr(geolin_ros, name)(*frames, **{field: 7.0})
    assert caught[0].filename == __file__
    assert getattr(made, RENAMED[old]) == 7.0


def test_arguments_that_are_alike__have_names():
    with pytest.warns(DeprecationWarning, match='of Contact by position is now') as caught:
        assert vars(Contact('foot', 'point', 3.0, 2.0)) == vars(Contact('foot', kp=3.0, kd=2.0))
    assert len(caught) == 2
    kinds = inspect.signature(Contact).parameters
    assert [name for name in kinds if kinds[name].kind is inspect.Parameter.KEYWORD_ONLY] == [
        *('kp', 'kd', 'reference', 'placement', 'active')
    ]


def test_change_log__has_the_table():
    text = (ROOT / 'CHANGELOG.rst').read_text()
    for old, new in RENAMED.items():
        assert f'``{old}``: ``{new}``' in text, old
