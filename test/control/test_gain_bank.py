# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains designed offline: as exact as stated, the same after a file, and steady."""

import io
import json
import struct
import subprocess
import zipfile
from functools import cache

import numpy as np
import pytest
import yaml
from geolin_control.gain_bank import SteadyContacts, build, squat
from geolin_control.gain_file import load_bank, save_bank
from support.c_library import needs_tools, run
from support.standing import stance, standing_robot

from geolin_ros import TreeModel, robots
from geolin_ros.cli import main
from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.lqr import Tuning, design
from geolin_ros.control.posture import standing_posture
from geolin_ros.errors import ConfigurationError, InfeasibleError, InputError, UnknownNameError

DEPTH = {'quadruped': 0.1, 'humanoid': 0.15}
FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')


@cache
def squatting(name):
    """Return model, supports, state on top, and a bank along a squat within 1 %."""
    model, supports, top = stance(name)
    height = top.H[2, 3]
    points = squat(model, supports, [height, height - DEPTH[name]], top)
    return model, supports, top, build(model, [points], tolerance=0.01)


def largest_error(bank):
    return max(error for route in bank.routes.values() for error in route.errors)


@pytest.mark.parametrize('name', DEPTH)
def test_interpolated_gain__is_within_the_stated_error_all_along(name):
    model, supports, top, bank = squatting(name)
    frames = [support.frame for support in supports]
    assert largest_error(bank) <= 0.01
    worst = 0.0
    for depth in DEPTH[name] * np.random.default_rng(0).uniform(size=4):
        (point,) = squat(model, supports, [top.H[2, 3] - depth], top)
        found, exact = bank.gains(frames, point.state), design(model, point)
        worst = max(worst, np.linalg.norm(found.K - exact.K) / np.linalg.norm(exact.K))
        np.testing.assert_allclose(found.state.s, point.state.s, atol=0.02)
        slack = 0.02 * np.max(model.limits.effort)
        np.testing.assert_allclose(found.feedforward, exact.feedforward, atol=slack)
    assert 1e-4 < worst < 1.5 * largest_error(bank)


@pytest.fixture(scope='module')
def two_sets(tmp_path_factory):
    """A bank for four feet and for three, in a file."""
    model, supports, top, _ = squatting('quadruped')
    lower = squat(model, supports, [top.H[2, 3], top.H[2, 3] - 0.05], top)
    on_three = standing_posture(model, supports[:3], start=top)
    three = [equilibrium(model, on_three, supports[:3])]
    bank = build(model, [lower, three], Tuning(delay=1), tolerance=np.inf)
    path = tmp_path_factory.mktemp('bank') / 'gains.npz'
    for suffix in ('.npz', '.yaml'):
        save_bank(bank, model, path.with_suffix(suffix))
    return model, top, bank, path


@pytest.mark.parametrize('suffix', ['.npz', '.yaml'])
def test_file__holds_the_same_gains(suffix, two_sets):
    model, top, bank, path = two_sets
    loaded = load_bank(path.with_suffix(suffix), model)
    assert set(loaded.routes) == set(bank.routes)
    for contacts in (FEET, FEET[2::-1]):
        ours, theirs = bank.gains(contacts, top), loaded.gains(contacts, top)
        for name in ('K', 'K_complement', 'K_past', 'feedforward'):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
        np.testing.assert_array_equal(ours.state.data, theirs.state.data)
        assert (ours.dt, ours.margin) == (theirs.dt, theirs.margin)
        assert ours.contacts == theirs.contacts
        for a, b in zip(ours.supports, theirs.supports, strict=True):
            np.testing.assert_array_equal(a.placement, b.placement)
    assert largest_error(loaded) == largest_error(bank)


def test_file__needs_nothing_of_ours_to_be_read(two_sets):
    path = two_sets[3]
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(str(file['header']))
        assert header['columns'][:2] == ['H.x', 'H.y']
        assert header['rows'][0] == 'tau.FL_hip_joint'
        assert [len(route['supports']) for route in header['routes']] == [4, 3]
        assert file['route0/K'].shape == (2, 12, 36)
        assert file['route1/K_past'].shape == (1, 12, 12)


def test_missing_contact_set__is_named_with_those_there_are(two_sets):
    _, top, bank, _ = two_sets
    with pytest.raises(UnknownNameError, match=r"'FL_foot\+FR_foot'.*did you mean"):
        bank.gains(['FR_foot', 'FL_foot'], top)


def test_file_of_another_model_or_with_a_part_missing__is_named(two_sets, tmp_path):
    model, _, bank, path = two_sets
    other = standing_robot('quadruped', armature=0.02)[0]
    with pytest.raises(InputError, match='is for model'):
        load_bank(path, other)
    with pytest.raises(InputError, match='the bank is for model'):
        save_bank(bank, other, tmp_path / 'x.npz')
    with pytest.raises(OSError, match='nowhere'):
        load_bank(tmp_path / 'nowhere.npz', model)
    with np.load(path) as file:
        np.savez(tmp_path / 'part.npz', **{k: file[k] for k in file if k != 'route1/H'})
    with pytest.raises(InputError, match='route1/H'):
        load_bank(tmp_path / 'part.npz', model)
    text = path.with_suffix('.yaml').read_text().replace('dt: 0', 'dt: -0', 1)
    (tmp_path / 'x.yaml').write_text(text)
    with pytest.raises(InputError, match='dt is -'):
        load_bank(tmp_path / 'x.yaml', model)


HUGE = np.lib.format.magic(1, 0) + struct.pack('<H', 118)
HUGE += b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }".ljust(118)
ENTRIES = [
    ('header', '{"format": "geolin_ros gain bank", "version": 2}'),
    *(('header', text) for text in ('[]', '[' * 100_000, '1' * 5000)),
    ('header', HUGE.replace(b'<f8', b'<U8')),
    ('route0/K', np.zeros((2, 12, 35))),
    ('route0/K', HUGE),
    ('route0/s', np.full((2, 12), np.nan)),
    ('route0/H', np.full((2, 4, 4), 2.0)),
]
TEXTS = ('a: [', 'no mapping', '', '[' * 100_000, '[' * 900 + ']' * 900, '\0')


def broken_files(path):
    """Yield the suffix and the content of files that are no gain banks, made of one that is."""
    good = path.read_bytes()
    for content in (b'', b'no archive', good[: len(good) // 2], good[:40] + good[44:], HUGE):
        yield '.npz', content
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name, value in ENTRIES:
        array, made = io.BytesIO(), io.BytesIO()
        np.save(array, 0 if isinstance(value, bytes) else value)
        content = value if isinstance(value, bytes) else array.getvalue()
        with zipfile.ZipFile(made, 'w') as archive:
            for part, data in (parts | {f'{name}.npy': content}).items():
                archive.writestr(part, data)
        yield '.npz', made.getvalue()
    document = yaml.safe_load(path.with_suffix('.yaml').read_text())
    document['routes'][1]['H'].pop()
    for text in (yaml.safe_dump(document), *TEXTS, 'routes: [&a [1.0], *a]'):
        yield '.yaml', text.encode()


def test_unusable_file__is_explained(two_sets, tmp_path):
    for suffix, content in broken_files(two_sets[3]):
        file = tmp_path / f'broken{suffix}'
        file.write_bytes(content)
        with pytest.raises(InputError, match='no gain bank of version 1'):
            load_bank(file, two_sets[0])


def test_routes__that_change_contacts_are_refused(monkeypatch):
    model, supports, top, _ = squatting('quadruped')
    four = equilibrium(model, top, supports)
    three = equilibrium(model, standing_posture(model, supports[:3], start=top), supports[:3])
    for routes, said in (([[four, three]], 'contact sets'), ([[four], [four]], 'no other route')):
        with pytest.raises(ConfigurationError, match=said):
            build(model, routes)
    with pytest.raises(ConfigurationError, match='tolerance is nan'):
        build(model, [[four]], tolerance=np.nan)
    descent = squat(model, supports, [top.H[2, 3], 0.28], top)
    monkeypatch.setattr('geolin_control.gain_bank.MOST_KNOTS', 5)
    with pytest.raises(InfeasibleError, match='more than 5'):
        build(model, [descent], tolerance=1e-9)


def test_contacts__change_when_the_change_has_lasted():
    steady = SteadyContacts(['a', 'b'], dwell=0.02)
    both, one = frozenset('ab'), frozenset('a')
    felt = [(0.0, 'ab'), (0.01, 'a'), (0.02, 'ab'), (0.03, 'a'), (0.04, 'a'), (0.05, 'a')]
    felt += [(0.06, 'ab'), (0.07, 'a'), (0.1, 'ab'), (0.13, 'ab')]
    felt += [(0.14, 'a'), (0.01, 'a'), (0.04, 'a')]  # the clock was set back
    expected = [both, both, both, both, both, one, one, one, one, both, both, both, one]
    assert [steady.update(time, contacts) for time, contacts in felt] == expected
    assert SteadyContacts('a', dwell=0.0).update(0.0, 'b') == frozenset('b')
    with pytest.raises(ConfigurationError, match='dwell'):
        SteadyContacts('a', dwell=-1.0)


def test_command__saves_a_bank_that_a_node_can_load(tmp_path, capsys):
    path, urdf = tmp_path / 'gains.npz', robots.path('quadruped')
    feet = [f'{foot}:0.02' for foot in FEET]
    contacts = ['--contacts', *feet, '--contacts', *feet[:3]]
    arguments = [str(urdf), str(path), *contacts, '--heights', '0.36', '0.33', '--delay', '1']
    assert main(['gain-bank', *arguments, '--tolerance', '0.05']) == 0
    assert 'FL_foot+FR_foot+RL_foot: 2 postures' in capsys.readouterr().out
    model = TreeModel.from_urdf(urdf)
    bank = load_bank(path, model)
    gains = bank.gains(FEET, model.neutral_state())
    assert gains.K_past.shape == (12, 12)
    assert largest_error(bank) < 0.05
    assert main(['gain-bank', str(urdf), str(path), '--contacts', 'FL_foot']) == 1
    assert 'standing on FL_foot cannot be kept there' in capsys.readouterr().err


@needs_tools
def test_header__gives_a_program_in_C_the_same_numbers(two_sets, tmp_path, capsys):
    model, _, bank, _ = two_sets
    save_bank(bank, model, tmp_path / 'held.h')
    knots = [knot for route in bank.routes.values() for knot in route.knots]
    arrays = {
        'x': [k.state.data for k in knots],
        'tau': [k.feedforward for k in knots],
        'K': [k.K + k.K_complement for k in knots],
        'K_past': [k.K_past for k in knots],
    }
    (tmp_path / 'program.c').write_text(
        '#include "held.h"\n#include <stdio.h>\nint main(void) {\n'
        + ''.join(f'  fwrite(held_{name}, sizeof held_{name}, 1, stdout);\n' for name in arrays)
        + '  for (int r = 0; r < HELD_ROUTES; r++)\n'
        '    fprintf(stderr, "%s %d %d\\n", held_routes[r].contacts, held_routes[r].first,\n'
        '        held_routes[r].count);\n'
        '  return fprintf(stderr, "%s %g %d", HELD_MODEL_HASH, HELD_PERIOD, HELD_PAST) < 0;\n}\n'
    )
    flags = '-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Werror'
    run('cc', *flags, '-o', tmp_path / 'program', tmp_path / 'program.c')
    done = subprocess.run([tmp_path / 'program'], capture_output=True, check=True)
    assert done.stdout == b''.join(np.array(values).tobytes() for values in arrays.values())
    names = '+'.join(FEET), '+'.join(FEET[:3])
    said = [f'{names[0]} 0 2', f'{names[1]} 2 1', f'{model.hash} 0.002 12']
    assert done.stderr.decode().split('\n') == said
    urdf = str(robots.path('quadruped'))
    assert main(['gain-bank', urdf, str(tmp_path / 'my-gains.h'), '--contacts', *FEET]) == 1
    assert 'my-gains.h' in capsys.readouterr().err
