# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import json

import numpy as np
import pytest
from geolin_tools.cli.inspect import inspect
from support.bags import FOLDER, START, Messages, Sample, write_bag
from support.datasets import run
from support.robots import example_robot

from geolin_ros.cli import main
from geolin_ros.datasets import open_dataset
from geolin_ros.offline.source import open_source

MS = 1_000_000


@pytest.fixture
def report(robot, tmp_path):
    """A function from messages to the report about them."""

    def write_and_inspect(messages, **options):
        path = write_bag(tmp_path / 'bag', messages, robot[1])
        with open_source([path], **options) as source:
            return inspect(source)

    return write_and_inspect


@pytest.fixture
def messages(robot):
    return Messages(robot[0])


def moved(samples, shift):
    """Return samples with stamps changed by ``shift(k, stamp)``."""
    return [Sample(shift(k, s.stamp), s.state, s.tau) for k, s in enumerate(samples)]


def test_clean_bag__has_no_problem(report, messages, samples):
    found = report(messages.of_samples(samples))
    assert found['problems'] == []
    assert found['dropped'] == {}
    assert found['linearizable'] == len(samples)
    assert found['duration'] == pytest.approx(0.002 * (len(samples) - 1))
    assert found['joints'] == {'missing': [], 'unknown': []}
    assert found['topics']['/odom']['role'] == 'odom'
    assert found['timing']['joint_states']['rate'] == pytest.approx(500.0)
    assert found['timing']['joint_states']['gaps'] == 0
    assert found['odometry']['twist_frame'] == 'child'
    # means of two twists agree with the motion to second order in the step
    for part in ('linear', 'angular'):
        assert found['odometry']['deviation'][part]['child'] < 1e-3


def twice_as_fast(k, state):
    state.v[:] *= 2.0


def set_anew(k, state):
    state.H[0, 3] += 1.0 if k >= 100 else 0.0


def in_world_axes(k, state):
    R = state.H[:3, :3]
    state.v[:] = np.concatenate((R @ state.v[:3], R @ state.v[3:]))


@pytest.mark.parametrize(
    ('spoil', 'axes', 'jumps', 'problem'),
    [
        (in_world_axes, 'world', 0, 'is in world axes, not in child axes: set parameter'),
        (twice_as_fast, None, 0, 'agrees with the motion of the pose in no axes: 50% off in'),
        (set_anew, 'child', 1, ''),
    ],
)
def test_odometry_that_is_wrong__is_seen(report, messages, samples, spoil, axes, jumps, problem):
    spoilt = [sample._replace(state=sample.state.copy()) for sample in samples]
    for k, sample in enumerate(spoilt):
        spoil(k, sample.state)
    found = report(messages.of_samples(spoilt))
    assert (found['odometry']['twist_frame'], found['odometry']['pose_jumps']) == (axes, jumps)
    assert problem in ' '.join(found['problems'])


@pytest.mark.parametrize(
    ('shift', 'name', 'said', 'drops'),
    [
        (lambda k, t: t + 50 * MS * (k >= 20), 'gaps', '1 gaps, the longest 0.052 s', 0),
        (lambda k, t: t - 2 * MS * (k == 20), 'repeated_stamps', '1 stamps repeat', 2),
        (lambda k, t: t - 10 * MS * (k == 20), 'backward_steps', '1 stamps go back', 2),
        (lambda k, t: t - 10**10 * (k >= 20), 'clock_resets', '1 times the clock starts', 0),
    ],
)
def test_clocks__are_looked_at(shift, name, said, drops, report, messages, samples):
    entries = [
        (role, START + k // 2 * 2 * MS, message)
        for k, (role, _, message) in enumerate(messages.of_samples(moved(samples[:50], shift)))
    ]
    found = report(entries)
    assert found['timing']['joint_states'][name] == 1
    assert any(f'joint_states: {said}' in problem for problem in found['problems'])
    dropped = {cause: drop['count'] for cause, drop in found['dropped'].items()}
    assert dropped == ({'stamp not after the last one': drops} if drops else {})


def test_robot_that_hardly_moves__leaves_its_twist_untold(report, messages, samples, capsys):
    still = [sample._replace(state=samples[0].state.copy()) for sample in samples]
    for sample in still:
        sample.state.v[:] = 0.0
    assert report(messages.of_samples(still))['odometry']['twist_frame'] is None
    assert main(['inspect', str(FOLDER / 'pushed')]) == 0
    said = 'linear odometry twist against its pose: undetermined, it is short or hardly moves'
    assert said in capsys.readouterr().out


def test_nan_and_missing_velocities__are_what_would_be_dropped(robot, samples, tmp_path, capsys):
    entries = list(Messages(robot[0]).of_samples(samples[:20]))
    early = write_bag(tmp_path / 'early', entries[1:], robot[1])
    assert main(['inspect', str(early)]) == 0  # a joint state before any odometry
    assert '! 1 inputs would be dropped, no odometry yet' in capsys.readouterr().out
    entries[5][2].position = np.full(12, np.nan)
    entries[7][2].velocity = np.zeros(0)
    entries[8][2].pose.pose.orientation.w = 3.0
    path = write_bag(tmp_path / 'wrong', entries, robot[1])
    assert main(['inspect', str(path), '--json']) == 2
    found = json.loads(capsys.readouterr().out)
    assert {cause: drop['count'] for cause, drop in found['dropped'].items()} == {
        'NaN or inf': 1,
        'joint velocities missing': 1,
        'quaternion not of unit length': 1,
    }
    assert found['linearizable'] == 18
    assert "joint 'FL_hip_joint' has position nan" in found['dropped']['NaN or inf']['first']


@pytest.mark.parametrize('verb', ['inspect', 'linearize', 'replay', 'gains'])
def test_truncated_bag__ends_every_verb_that_reads_it(verb, bag, tmp_path, capsys):
    cut = tmp_path / 'cut.mcap'
    (file,) = bag.glob('*.mcap')
    cut.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    output = [] if verb == 'inspect' else ['-o', str(tmp_path / verb)]
    assert main([verb, str(cut), *output]) == 1
    assert 'mcap recover' in capsys.readouterr().err
    assert not (tmp_path / verb).exists()


def test_description_of_another_robot__is_refused(bag, robot, tmp_path, capsys):
    other = str(example_robot('solo12'))
    assert main(['inspect', str(bag), '--urdf', other]) == 1
    printed = capsys.readouterr().out
    for words in ('lack FL_HAA, FL_HFE', 'no sample can be', "'quadruped', not of 'solo'"):
        assert words in printed
    arguments = ['linearize', str(bag), '--output', str(tmp_path / 'out.zarr'), '--urdf']
    assert main([*arguments, other]) == 1
    said = capsys.readouterr().err
    assert "not of 'solo', which was given: joints FL_HAA, FL_HFE, FL_KFE are of one" in said
    file, text = tmp_path / 'heavy.urdf', robot[1]
    file.write_text(text.replace('<mass value="', '<mass value="9'))
    assert main([*arguments, str(file)]) == 1
    assert 'kg, not 15 kg; leave out --urdf' in capsys.readouterr().err
    file.write_text(text.replace('<robot name="quadruped"', '<robot name="identified"'))
    assert main([*arguments, str(file)]) == 0


def test_command__prints_for_people_and_machines(bag, capsys):
    assert main(['inspect', str(bag)]) == 0
    printed = capsys.readouterr()
    assert '250 of 250 usable joint states would be linearized' in printed.out
    assert '/odom (nav_msgs/msg/Odometry)  <- odom' in printed.out
    assert printed.err == ''
    assert main(['inspect', str(bag), '--json', '-p', 'max_rate:=100']) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found['linearizable'], found['left_out_by_max_rate']) == (50, 200)


def test_simulated_time__is_that_of_the_stamps(robot, messages, samples, tmp_path, capsys):
    """Recorded at half the pace, by a clock of the wall: rates are those of the simulation."""
    entries = []
    for k, sample in enumerate(moved(samples[:100], lambda k, t: 2 * MS * k)):
        wall = START + 4 * MS * k
        entries.append(('clock', wall, messages.clock(sample.stamp)))
        entries += [(role, wall, message) for role, _, message in messages.of_samples([sample])]
    path = write_bag(tmp_path / 'bag', entries, robot[1])
    assert main(['inspect', str(path)]) == 0
    printed = capsys.readouterr().out
    for words in ('s, simulated time', 'joint_states: 500.0 Hz', '100 of 100 usable'):
        assert words in printed
    assert '! ' not in printed
    run(path, tmp_path / 'out.zarr')
    found = open_dataset(str(tmp_path / 'out.zarr'))
    assert found.time.values.astype('int64').tolist() == [2 * MS * k for k in range(100)]
    assert np.isfinite(found.residual.values[1:-1]).all()


@pytest.mark.parametrize('name', ['demo', 'pushed'])
def test_bag_of_the_tests__is_small_and_usable(name):
    bag = FOLDER / name
    assert sum(file.stat().st_size for file in bag.iterdir()) < 500_000
    with open_source([bag]) as source:
        found = inspect(source)
    assert found['linearizable'] == found['timing']['joint_states']['count'] > 100
    assert found['dropped'] == {}


def test_residual__vanishes_where_contacts_are_known(tmp_path):
    """What the simulator did before the push, with its floor, is what the model predicts."""
    residual = {}
    for name in ('free', 'held'):
        feet = [f'{leg}_foot point' for leg in ('FL', 'FR', 'RL', 'RR') if name == 'held']
        run(FOLDER / 'pushed', tmp_path / name, {'contacts': feet} if feet else None)
        found = open_dataset(str(tmp_path / name)).residual[10:40]
        residual[name] = abs(found).median('time').values
    free, held = residual['free'], residual['held']
    assert free[2] > 0.5  # it falls, the robot does not
    assert free[6:].min() > 50.0
    assert held[:6].max() < 0.01
    assert (held[6:] / free[6:]).max() < 1e-3
