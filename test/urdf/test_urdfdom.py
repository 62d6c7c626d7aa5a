# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What urdfdom, the parser of ROS, reads is read alike; urdfdom is in Pinocchio's wheel."""

import copy
import random
import re
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.robots import example_robot, example_robots

from geolin_ros.errors import ModelWarning, UrdfError
from geolin_ros.model.numbering import moved_inertia
from geolin_ros.urdf import read

pin = pytest.importorskip('pinocchio')

MASS = '<mass value="1"/>'
INERTIA = '<inertia ixx="1" ixy="0.1" ixz="0" iyy="1.2" iyz="0" izz="1.3"/>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def robot(joint=LIMIT, inertial=MASS + INERTIA, kind='revolute', head='', tail=''):
    return (
        f'<robot name="r"{head}><link name="a"><inertial>{MASS}{INERTIA}</inertial></link>'
        f'<link name="b"><inertial>{inertial}</inertial></link><joint name="j" type="{kind}">'
        f'<parent link="a"/><child link="b"/><axis xyz="0 0 1"/>{joint}</joint>{tail}</robot>'
    )


TRANSMISSION = (
    '<transmission><joint name="j"/><actuator name="m"><mechanicalReduction>{}'
    '</mechanicalReduction></actuator></transmission>'
)
QUATERNION = '<origin quat_xyzw="0.1 0.2 0.3 0.9" xyz="1 2 3"/>' + LIMIT

# Taken otherwise than written: the text, and what the warning says.
TAKEN = {
    'origins': (robot('<origin xyz="1 2 3"/><origin xyz="4 5 6"/>' + LIMIT), 'more than one <ori'),
    'parents': (robot('<parent link="b"/>' + LIMIT), 'more than one <parent>'),
    'children': (robot('<child link="a"/>' + LIMIT), 'more than one <child>'),
    'axes': (robot('<axis xyz="0 1 0"/>' + LIMIT), 'more than one <axis>'),
    'limits': (robot(LIMIT + '<limit lower="5"/>'), 'more than one <limit>'),
    'masses': (robot(inertial=MASS + '<mass value="7"/>' + INERTIA), 'more than one <mass>'),
    'mass': (robot(inertial=INERTIA), 'no mass value: taken as massless'),
    'value': (robot(inertial='<mass/>' + INERTIA), 'no mass value: taken as massless'),
    'inertial': (robot(inertial=''), 'no mass value: taken as massless'),
    'inertia': (robot(inertial='<origin xyz="0 0 1"/>' + MASS), 'no ixx, ixy'),
    'moments': (
        robot(inertial=MASS + '<inertia ixx="1" izz="3"/>'),
        'no ixy, ixz, iyy, iyz: taken as a point mass',
    ),
    'swapped limits': (robot(LIMIT.replace('"1"', '"-2"', 1)), 'above upper limit -2.0: taken as'),
    'old quaternion': (robot(QUATERNION), 'quat_xyzw is ignored in a URDF of version 1.0'),
    'reduction': (robot(tail=TRANSMISSION.format('fast')), "mechanicalReduction is 'fast'"),
    'no reduction': (robot(tail=TRANSMISSION.format('0')), "mechanicalReduction is '0'"),
    'comment': (robot(tail='<!-- a -- b -->'), 'not well-formed XML'),
    'ampersand': (robot(tail='<material name="a & b"/>'), 'not well-formed XML'),
    'no effort': (robot(LIMIT.replace('effort="1"', '')), 'no effort: taken as no limit'),
    'negative effort': (
        robot(LIMIT.replace('"1" velocity', '"-1" velocity')),
        'effort limit is -1.0: taken as',
    ),
    'second robot': (robot() + robot(), 'not well-formed XML'),
}


def attempted(text):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', ModelWarning)
            return read(text), ''
    except UrdfError as error:
        return None, str(error)


def theirs(text):
    """Return frames and composite inertia of the root at zero positions; None if refused."""
    try:
        model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    except (ValueError, RuntimeError):
        return None
    data = model.createData()
    neutral = pin.neutral(model)
    pin.framesForwardKinematics(model, data, neutral)
    pin.crba(model, data, neutral)
    frames = {
        frame.name: data.oMf[i].homogeneous
        for i, frame in enumerate(model.frames)
        if frame.type == pin.FrameType.BODY
    }
    return frames, data.Ycrb[1].matrix()


def assert_same(description, text):
    frames, inertia = theirs(text)
    moved = {joint.child for joint in description.joints}
    placements = {link.name: np.eye(4) for link in description.links if link.name not in moved}
    waiting = list(description.joints)
    while waiting:
        joint = waiting.pop(0)
        if joint.parent in placements:
            placements[joint.child] = placements[joint.parent] @ joint.placement
        else:
            waiting.append(joint)
    composite = sum(moved_inertia(x.inertia, placements[x.name]) for x in description.links)
    for name, placement in placements.items():
        assert_allclose(placement, frames[name], rtol=1e-9, atol=1e-9, err_msg=name)
    assert_allclose(composite, inertia, rtol=0, atol=1e-9 * np.abs(inertia).max())


@pytest.mark.parametrize('case', TAKEN)
def test_text_that_urdfdom_takes__is_taken_alike_with_a_warning(case):
    text, sentence = TAKEN[case]
    with pytest.warns(ModelWarning, match=re.escape(sentence)) as said:
        description = read(text)
    assert len(said) == len(description.findings) == 1
    assert ';' in str(said[0].message)  # the fix
    if 'effort' in case:
        assert description.joints[0].limits.effort == np.inf  # urdfdom refuses it
    else:
        assert_same(description, text)


@pytest.mark.parametrize(
    'text',
    [
        robot('', kind='fixed').replace('0 0 1', 'x'),
        robot(QUATERNION, head=' version="1.1"'),
        robot().replace('<axis xyz="0 0 1"/>', ''),
    ],
    ids=['axis of a fixed joint', 'quaternion', 'no axis'],
)
def test_text_that_urdfdom_reads__is_read_alike_without_a_word(text):
    assert_same(read(text), text)


def test_example_robots__are_read_alike_without_printing(capfd):
    files = example_robots()
    if not files:
        pytest.importorskip('example_robot_data')
    refused, read_by_both = {}, 0
    for file in files:
        text = file.read_text(encoding='utf-8')
        description, refused[file.name] = attempted(text)
        assert capfd.readouterr() == ('', '')
        if theirs(text) is not None:
            assert_same(description, text)
            read_by_both += 1
        capfd.readouterr()
    assert read_by_both >= 60
    assert [name for name, sentence in refused.items() if sentence] == ['ur3.urdf']
    assert 'attribute name is missing' in refused['ur3.urdf']  # an empty <robot>


# What urdfdom makes into something else without stopping, and no reader can mean.
NOBODY_MEANS = re.compile(
    'finite|decimal|printable|norm|mass is -|form a loop|child of joints|root links|is missing'
)
JUNK = ['', 'nan', 'inf', '1e999', '-1', '0', 'x', '1 2', '1 2 3', '1 2 3 4', '0x1', '1,0', '1kg',
        '${x}', '1e-3', 'base', '-0', '+1']  # fmt: skip
DAMAGED = ('link', 'joint', 'inertial', 'origin', 'mass', 'inertia', 'axis', 'limit', 'parent',
           'child', 'dynamics', 'mimic')  # fmt: skip


def damaged(tree, rng):
    """Return the text of a robot with one or two elements or attributes changed."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.randint(1, 2)):
        parents = [(up, x) for up in tree.iter() for x in up if x.tag in DAMAGED]
        up, element = rng.choice(parents)
        what = rng.randrange(5)
        if what == 0:
            up.remove(element)
        elif what == 1:
            twin = copy.deepcopy(element)
            for key in twin.attrib:
                if rng.random() < 0.5:
                    twin.set(key, rng.choice(JUNK))
            up.insert(list(up).index(element) + rng.randint(0, 1), twin)
        elif element.attrib:
            key = rng.choice(list(element.attrib))
            if what == 2:
                del element.attrib[key]
            else:
                element.set(key, rng.choice(JUNK))
    return ElementTree.tostring(tree, encoding='unicode')


def test_damaged_robots__are_read_alike_or_refused_with_what_nobody_means(capfd):
    tree, rng = ElementTree.parse(example_robot('panda')).getroot(), random.Random('panda')
    alike, refused = 0, 0
    for _ in range(300):
        text = damaged(tree, rng)
        if theirs(text) is None:
            continue
        description, sentence = attempted(text)
        if description is None:
            assert NOBODY_MEANS.search(sentence), (sentence, text)
            refused += 1
            continue
        assert_same(description, text)
        alike += 1
    assert alike > 80, (alike, refused)
    assert refused > 3
    capfd.readouterr()
