# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whatever bytes come: an answer or a `GeolinError`, soon, and in little memory."""

import functools
import resource
import struct
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip('rosbags')
from support.fuzz_targets import TARGETS

from geolin_ros.errors import ModelError
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.parameters.model_reading import read_model

CRASHES = sorted((Path(__file__).parent / 'crashes').glob('*/*'))
LONGEST = 2.0
LONGEST_SEED = 32_000
MOST_MEMORY = 300_000  # kB
BYTES = [struct.pack('<d', x) for x in (np.nan, np.inf, 1e300, 1e-300, -1.0)]


def timed(target, data):
    """Run a target within its limits."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    target(data)
    assert time.process_time() - start < LONGEST
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MEMORY


@functools.cache
def warm(name):
    """Return a target, with all that it imports and compiles once."""
    found = TARGETS[name]
    for seed in found.seeds():
        found(seed)
    return found


@pytest.fixture(scope='module', params=TARGETS)
def target(request):
    return warm(request.param)


def test_seeds__get_through(target):
    """Else fuzzing would stop at the door."""
    seeds = target.seeds()
    assert all(map(target.reads, seeds))
    assert max(map(len, seeds)) <= LONGEST_SEED


@pytest.mark.parametrize('file', CRASHES, ids=lambda file: f'{file.parent.name}-{file.name[:14]}')
def test_what_has_once_been_found__is_survived(file):
    timed(warm(file.parent.name), file.read_bytes())


@given(data=st.data(), garbage=st.binary(max_size=3000))
def test_any_bytes_and_damaged_files__are_survived(target, data, garbage):
    """Seeds with a piece taken out, put elsewhere, or overwritten by as many bytes."""
    timed(target, garbage)
    seed = data.draw(st.sampled_from(target.seeds()))
    a, b, c = sorted(data.draw(st.integers(0, len(seed))) for _ in range(3))
    patch = data.draw(st.sampled_from([b'', seed[a:b] * 3, b'1e999', b'\x00\xff', b'nan', *BYTES]))
    timed(target, seed[:a] + patch + seed[b:c] + seed[a:b] + seed[c:])
    timed(target, seed[:a] + patch + seed[a + len(patch) :])


# ---- texts of the right shape with values of any

NAMES = st.text(max_size=8) | st.sampled_from(['base', 'FL_calf_joint', '*', '[!', 'a' * 2000])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([10**400, '1e999', '.inf', '2001-99-99', '1:2:3', '0x' + 'f' * 400])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
JOINT_VALUES = st.dictionaries(
    st.sampled_from(['rotor_inertia', 'gear_ratio', 'stiffness', 'friction_speed', 'x']), VALUES
)
OVERLAYS = st.fixed_dictionaries(
    {},
    optional={
        'joints': VALUES | st.dictionaries(NAMES, JOINT_VALUES, max_size=3),
        'payloads': VALUES
        | st.lists(
            st.dictionaries(st.sampled_from(['frame', 'mass', 'com', 'inertia']), VALUES),
            max_size=3,
        ),
        'else': VALUES,
    },
)


@given(OVERLAYS)
def test_any_overlay__is_survived(values):
    timed(TARGETS['overlay'], yaml.safe_dump(values).encode('utf-8', 'surrogatepass'))


PARAMETER_NAMES = st.sampled_from(
    ['max_skew', 'overlay', 'payloads', 'reference', 'actuated_joints', 'contacts', 'base', 'x']
)


@given(st.dictionaries(PARAMETER_NAMES, VALUES, max_size=4))
def test_any_parameters__are_survived(values):
    content = {'/**': {'ros__parameters': values}}
    timed(TARGETS['parameters'], yaml.safe_dump(content).encode('utf-8', 'surrogatepass'))


NUMBERS = st.sampled_from(
    ['0', '1', '-1', '1e999', '-1e999', '1e308', '1e-320', 'nan', '0x10', '1_0', '٣', '', '1,0']
) | st.floats().map(repr)
ATTRIBUTE_NAMES = st.text(
    st.characters(codec='utf-8', exclude_characters='<>&"\r\n\t'), max_size=6
) | st.sampled_from(['a', 'b', '../a', 'a' * 1001, '\u202ea', "';drop"])


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=4, max_size=4), ATTRIBUTE_NAMES)
def test_any_numbers_and_names_in_a_description__are_survived(numbers, name):
    (x, y, z), (mass, ixx, iyy), axis, (low, high, gear) = numbers
    text = f"""<robot name="{name}"><link name="a"/><link name="{name}"><inertial>
    <mass value="{mass}"/><inertia ixx="{ixx}" iyy="{iyy}" izz="{ixx}" ixy="0" ixz="0" iyz="0"/>
    </inertial></link><joint name="{name}" type="revolute"><parent link="a"/>
    <child link="{name}"/><origin xyz="{x} {y} {z}"/><axis xyz="{' '.join(axis)}"/>
    <limit lower="{low}" upper="{high}" effort="1" velocity="1"/></joint>
    <transmission><joint name="{name}"/><actuator name="m"><mechanicalReduction>{gear}
    </mechanicalReduction></actuator></transmission></robot>"""
    timed(TARGETS['urdf_text'], text.encode())
    timed(TARGETS['urdf_bytes'], text.encode())


BOMBS = {
    'aliases': 'a: &a [x, x]\n'
    + ''.join(f'{b}: &{b} [*{a}, *{a}]\n' for a, b in pairwise('abcdefghijklmnopqrstuvwxy')),
    'depth': '[' * 50_000,
    'length': 'a: ' + 'x' * 3_000_000,
    'digits': 'joints: ' + '9' * 90_000,
    'merge': 'a: &a {b: 1}\nc: {<<: [*a, *a]}',
    'python': '!!python/object/apply:os.system ["touch /tmp/pwned"]',
    'keys': '? [a, b]\n: c\n? {a: b}\n: d\n',
    'commas': '[' + ',' * 90_000,
}


@pytest.mark.parametrize('name', BOMBS)
def test_yaml_that_would_grow__is_refused(name):
    timed(TARGETS['overlay'], BOMBS[name].encode())
    timed(TARGETS['parameters'], BOMBS[name].encode())


def chain(joints, kind):
    links = ''.join(f'<link name="{k}"/>' for k in range(joints + 1))
    rows = ''.join(
        f'<joint name="{k}" type="{kind}"><parent link="{k}"/><child link="{k + 1}"/></joint>'
        for k in range(joints)
    )
    return f'<robot name="r">{links}{rows}</robot>'


@pytest.mark.parametrize(
    ('text', 'says'),
    [
        (chain(12_000, 'fixed'), 'expected at most 10000'),
        (chain(1001, 'continuous'), 'expected at most 1000: A and B would fill the memory'),
    ],
)
def test_description_of_a_robot_too_large__is_refused_soon(text, says):
    start = time.process_time()
    with pytest.raises(ModelError, match=says):
        read_model(text, default_values(), str)
    assert time.process_time() - start < 20.0
