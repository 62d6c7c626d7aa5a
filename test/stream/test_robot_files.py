# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameter files of docs/integration.md, with the robots that they are in the manner of."""

import re
from pathlib import Path

import numpy as np
import pytest
from support.close import assert_close
from support.messages import SECOND, joint_state, odometry, random_quaternion, wrench_stamped
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot
from support.taking import take

from geolin_ros import Linearizer, State
from geolin_ros.model.wrenches import Wrench
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.parameters.file import read_parameter_file
from geolin_ros.stream.parameters.linearizer import TABLE, stream_settings
from geolin_ros.stream.parameters.model_reading import read_model

pin = pytest.importorskip('pinocchio')

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'docs' / 'integration.md').read_text()
ROBOTS = {
    'quadruped_like_go2': 'go2',
    'humanoid_like_g1': 'g1_29dof_with_hand_rev_1_0',
    'humanoid_like_icub': 'icub',
}
LOCKED = {'quadruped_like_go2': 0, 'humanoid_like_g1': 14, 'humanoid_like_icub': 3}
T0 = 100 * SECOND


def read(name, **changed):
    """Return model, settings and URDF of a parameter file."""
    path = example_robot(ROBOTS[name])
    values = {parameter.name: parameter.default for parameter in TABLE}
    values |= read_parameter_file(ROOT / 'config' / f'{name}.yaml') | changed
    return read_model(path, values, lambda _: None), stream_settings(values), path


def answer_of(model, settings, seed=0):
    """Feed a stream with what such a robot publishes; return its answer."""
    stream, rng = LinearizationStream(model, settings), np.random.default_rng(seed)
    child = settings.child_frame or settings.frame_prefix + model.base_link
    for stamp in (T0, T0 + 2_000_000):
        place, turn = rng.normal(size=3), random_quaternion(rng)
        take(stream, 'odom', odometry(stamp, place, turn, rng.normal(size=6), child))
    for topic in settings.wrench_topics:
        frame = topic.link if topic.kind == 'body' else 'odom'
        take(stream, topic.topic, wrench_stamped(T0, 50 * rng.normal(size=6), frame))
    names = list(model.joint_names)
    halves = (names[:9], names[9:]) if settings.joint_states_in_parts else (names,)
    for half in halves:
        numbers = rng.uniform(-0.5, 0.5, (3, len(half)))
        answer = take(stream, 'joint_states', joint_state(T0 + 1_000_000, half, *numbers))
    return stream, answer


@pytest.mark.parametrize('name', ROBOTS)
def test_file__makes_the_robot_linearizable(name):
    model, settings, _ = read(name)
    assert len(model.locked_joints) == LOCKED[name]
    stream, answer = answer_of(model, settings)
    assert answer.A.shape == (2 * model.m, 2 * model.m)
    assert answer.B.shape == (2 * model.m, len(model.actuated_joints))
    assert np.isfinite(answer.A).all()
    assert np.abs(answer.B).max() > 0.0
    assert stream.counts.dropped == 0
    assert len(answer.wrenches) == len(settings.wrench_topics)


def test_quadruped__has_its_foot_forces_in_a():
    model, settings, _ = read('quadruped_like_go2', form='continuous')
    _, answer = answer_of(model, settings)
    forces = [Wrench(w.link, w.force, w.moment, 'world_oriented') for w in answer.wrenches]
    expected = Linearizer(model)(answer.state, answer.tau, wrenches=forces)
    np.testing.assert_array_equal(answer.A, expected.A)


def test_humanoid_at_rest__is_what_pinocchio_says_of_it():
    """The whole hand's fingers locked, by Pinocchio's own reduction; nu_dot = 0."""
    model, settings, path = read('humanoid_like_g1')
    _, answer = answer_of(model, settings)
    whole = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    locked = [whole.getJointId(joint.name) for joint in model.locked_joints]
    reduced = pin.buildReducedModel(whole, locked, pin.neutral(whole))
    oracle = PinocchioOracle(reduced, model)
    state, m = answer.state, model.m
    by_q, by_v = oracle.inverse_dynamics_derivatives(state, np.zeros(m))
    rows = -np.linalg.solve(oracle.mass_matrix(state), np.hstack((by_q, by_v)))
    assert_close(answer.A[m:], rows, 1e-9)
    assert_close(answer.base_wrench, oracle.inverse_dynamics(state, np.zeros(m))[:6], 1e-11)


def test_icub__takes_world_twists_of_another_link():
    model, settings, _ = read('humanoid_like_icub')
    rng = np.random.default_rng(0)
    place, turn, twist = rng.normal(size=3), random_quaternion(rng), rng.normal(size=6)
    stream = LinearizationStream(model, settings)
    take(stream, 'odom', odometry(T0, place, turn, twist, 'root_link'))
    for topic in settings.wrench_topics:
        take(stream, topic.topic, wrench_stamped(T0, np.ones(6), topic.link))
    answer = take(
        stream, 'joint_states', joint_state(T0, model.joint_names, *np.zeros((3, model.n)))
    )
    at_link = pin.SE3(pin.Quaternion(*turn[[3, 0, 1, 2]]).matrix(), place)
    placement = pin.SE3(model.frame('root_link').placement)
    assert_close(answer.state.H, (at_link * placement.inverse()).homogeneous, 1e-12)
    R = at_link.rotation.T
    in_link = pin.Motion(R @ twist[:3], R @ twist[3:])
    assert_close(answer.state.v, placement.act(in_link).vector, 1e-12)
    assert len(model.actuated_joints) == 23


def test_overlay_of_the_page__fits_the_quadruped(tmp_path):
    (overlay,) = re.findall(r'^```yaml\n(.*?)^```', PAGE, re.DOTALL | re.MULTILINE)
    file = tmp_path / 'overlay.yaml'
    file.write_text(overlay)
    plain, _, _ = read('quadruped_like_go2')
    model, _, _ = read('quadruped_like_go2', overlay_file=str(file))
    assert model.hash != plain.hash
    calf = model.joint_index('FL_calf_joint')
    assert model.tree.armature.max() == pytest.approx(1.1e-4 * 12.1**2)
    state = State(np.eye(4), np.zeros(12), np.zeros(6), np.zeros(12))
    light, heavy = (Linearizer(each)(state, np.zeros(12)).B for each in (plain, model))
    assert abs(heavy[24 + calf, calf]) < abs(light[24 + calf, calf])
