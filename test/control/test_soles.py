# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a foot is by its shapes; sizes are those of the robots' data sheets or of their meshes."""

import numpy as np
import pytest
from support.robots import example_robot, read_robot

from geolin_ros import TreeModel
from geolin_ros.control.soles import read_feet
from geolin_ros.errors import ConfigurationError, UnknownNameError

SHIN = """
<robot name="biped"><link name="base"><inertial><mass value="9"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="ankle" type="revolute"><parent link="base"/><child link="foot"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<link name="foot"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>{shapes}</link>
<joint name="to_sole" type="fixed"><parent link="foot"/><child link="sole"/>
<origin xyz="0 0 -0.1" rpy="{rpy}"/></joint><link name="sole"/></robot>
"""
BOX = """<collision><origin xyz="0 0 -0.08"/>
<geometry><box size="0.2 0.1 0.04"/></geometry></collision>"""


@pytest.mark.parametrize(
    ('robot', 'frame', 'size', 'said'),
    [
        ('go1', 'FL_foot', 0.02, 'a ball of radius'),
        ('anymal', 'LF_FOOT', 0.031, 'a ball of radius'),  # with the shank's cylinder above it
        ('go2', 'FL_foot', 0.022, 'a ball of radius'),  # a mesh, like those below
        ('g1_29dof_rev_1_0', 'left_ankle_roll_link', (0.17, 0.06), 'collision sphere and 3 more'),
        ('talos_reduced', 'left_sole_link', (0.21, 0.13), 'ankle_X_collision.stl of leg_left_6'),
        ('talos_reduced_box', 'left_sole_link', (0.21, 0.13), 'collision box of leg_left_6_link'),
        ('icub_reduced', 'l_sole', (0.06, 0.16), '.dae of l_foot'),
        ('alexander_v1.lowerBodyOnly', 'LEFT_FOOT', (0.2, 0.09), 'visual mesh Foot.obj'),
    ],
)
def test_foot__is_a_ball_or_the_flat_patch_of_what_it_is_fixed_to(robot, frame, size, said):
    path = example_robot(robot)
    (foot,) = read_feet(path, read_robot(path)[1], [frame])
    assert said in foot.assumed
    if isinstance(size, float):
        assert foot.support.kind == 'point'
        assert foot.support.radius == pytest.approx(size, abs=0.001)
    else:
        assert foot.support.kind == 'surface'
        np.testing.assert_allclose(np.ptp(foot.support.points, axis=0)[:2], size, atol=0.012)


def read_text(shapes, rpy, feet):
    text = SHIN.format(shapes=shapes, rpy=rpy)
    return read_feet(text, TreeModel.from_urdf(text), feet)


def test_nothing_is_assumed__where_the_text_says_it():
    sole, ball = read_text('', '0 0 0', ['sole:0.2x0.1', 'foot:0.02'])
    assert (sole.assumed, ball.assumed) == ('', '')
    (foot,) = read_text(BOX, '0 0 0', ['sole'])
    assert foot.assumed == 'sole: a sole of 0.2 x 0.1 m, from the collision box of foot'
    with pytest.raises(UnknownNameError, match='sole'):
        read_text('', '0 0 0', ['solo:0.2x0.1'])


LYING = BOX.replace('<box size="0.2 0.1 0.04"/>', '<cylinder radius="0.02" length="0.2"/>')
LYING = LYING.replace('xyz="0 0 -0.08"', 'xyz="0 0 -0.08" rpy="0 1.5708 0"')


@pytest.mark.parametrize(
    ('shapes', 'rpy', 'foot', 'said'),
    [
        ('', '0 0 0', 'sole', 'give sole:LENGTHxWIDTH for a sole, or sole:RAD'),
        (LYING, '0 0 0', 'foot', 'collision cylinder is no ball, and not flat'),
        (BOX.replace('-0.08', '-0.12'), '3.1416 0 0', 'sole', 'has to point up;'),
    ],
)
def test_nothing_is_made_up__where_shapes_do_not_tell(shapes, rpy, foot, said):
    with pytest.raises(ConfigurationError, match=said):
        read_text(shapes, rpy, [foot])
