# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin identify`` on bags of an arm, and of a body that floats."""

import functools
import json
import re

import numpy as np
import pytest
import yaml

from geolin_ros import Linearizer, TreeModel, inverse_dynamics, mass_matrix
from geolin_ros.cli import main

pytest.importorskip('rosbags')
pytest.importorskip('scipy')

from support.bags import Messages, Sample, write_bag

from geolin_ros.offline.bags import empty_message, known_types

ARM = """<robot name="arm"><link name="base"/>
  <link name="lower"><inertial><origin xyz="0 0 0.2"/><mass value="{mass}"/>
    <inertia ixx="0.03" iyy="0.03" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="lower"/>
    <axis xyz="0 1 0"/></joint></robot>"""


def swung(t, second):
    """Return position, rate and acceleration of the sum of two waves."""
    waves = (1.0, 4.0), (second and 0.5, second)
    return (
        sum(a * np.sin(w * t) for a, w in waves),
        sum(a * w * np.cos(w * t) for a, w in waves),
        sum(-a * w * w * np.sin(w * t) for a, w in waves),
    )


def write(path, late=0.0, second=0.0, rates=1.0):
    """Write joint states of an arm with 3 kg, efforts ``late`` and with noise."""
    rng, entries = np.random.default_rng(1), []
    truth = TreeModel.from_urdf(ARM.format(mass=3.0), base='fixed')
    for k in range(800):
        stamp, t = k * 10_000_000, 0.01 * k
        (s, r, _), past = swung(t, second), swung(t - late, second)
        then = truth.state(np.eye(4), [past[0]], np.zeros(6), [past[1]])
        tau = inverse_dynamics(truth, then, [past[2]]) + 0.05 * rng.normal()
        message = Messages(truth).joint_state(
            Sample(stamp, then, tau), position=np.array([s]), velocity=np.array([rates * r])
        )  # fmt: skip
        entries.append(('joint_states', stamp, message))
    return str(write_bag(path, entries, storage='sqlite3'))


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """A function from what is changed to a bag, which is written once."""
    return functools.cache(
        lambda **changed: write(tmp_path_factory.mktemp('bag') / 'a', **changed)
    )


ARM_OF_MUJOCO = """<mujoco model="arm"><worldbody><body name="lower">
  <joint name="shoulder" axis="0 1 0"/>
  <inertial pos="0 0 0.2" mass="2" diaginertia="0.03 0.03 0.004"/></body></worldbody></mujoco>"""


@pytest.fixture
def mjcf(tmp_path):
    pytest.importorskip('mujoco')
    path = tmp_path / 'arm.xml'
    path.write_text(ARM_OF_MUJOCO)
    return str(path)


@pytest.fixture
def urdf(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM.format(mass=2.0))
    return str(path)


@pytest.mark.parametrize('kind', ['urdf', 'mjcf'])
def test_identify__writes_an_overlay_that_a_model_reads(recorded, kind, tmp_path, request, capsys):
    urdf = request.getfixturevalue(kind)
    output = tmp_path / 'overlay.yaml'
    bag = recorded()
    assert main(['identify', bag, '--urdf', urdf, '-o', str(output), '--quiet']) == 0
    assert 'quantities moved' in capsys.readouterr().out
    model = TreeModel.from_file(urdf, base='fixed', overlay=output)
    moment = model.tree.inertia[1, 5, 1]  # m c_x
    assert abs(model.tree.inertia[1, 4, 0] - 0.6) < 0.02, 'm c_z of 3 kg at 0.2 m'
    assert abs(moment) < 0.02


def test_identify__writes_A_and_B_and_how_well_they_are_known(recorded, tmp_path, urdf, capsys):
    output, file = tmp_path / 'overlay.yaml', tmp_path / 'matrices.npz'
    arguments = [recorded(second=9.0), '--urdf', urdf, '-o', str(output)]
    assert main(['identify', *arguments, '--quiet', '--matrices', str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index(f'{file}: A and B at rest in the mean posture; poles [1/s]:')
    found = np.load(file)
    assert all(re.fullmatch(r'  \S+ \+- \S+', line) for line in lines[at + 1 : at + 3])
    truth = TreeModel.from_urdf(ARM.format(mass=3.0), base='fixed')
    state = truth.state(np.eye(4), found['posture'], np.zeros(6), [0.0])
    true = Linearizer(truth)(state, inverse_dynamics(truth, state, [0.0]))
    for name, of_truth in (('A', true.A), ('B', true.B)):
        entry, spread = found[name][1, 0], found[f'{name}_deviation'][1, 0]
        assert 0.0 < spread < 0.1 * abs(of_truth[1, 0])
        assert abs(entry - of_truth[1, 0]) < 3.0 * spread
    robot = TreeModel.from_file(urdf, base='fixed', overlay=output, coulomb_friction=True)
    same = Linearizer(robot)(state, inverse_dynamics(robot, state, [0.0]))
    assert np.allclose(found['A'], same.A, rtol=1e-6, atol=1e-9)


def test_identify__differentiates_positions_where_rates_are_nan(recorded, tmp_path, urdf):
    output, bag = tmp_path / 'overlay.yaml', recorded(rates=np.nan)
    assert main(['identify', bag, '--urdf', urdf, '-o', str(output), '--quiet']) == 0
    model = TreeModel.from_file(urdf, base='fixed', overlay=output)
    assert abs(model.tree.inertia[1, 4, 0] - 0.6) < 0.02, 'm c_z of 3 kg at 0.2 m'


@pytest.mark.parametrize(
    ('options', 'of'),
    [
        (['--payload', 'lower'], 'load on lower'),
        (['--only', 'lower', '--trust', 'lower=0.5', '--trust', '0.2'], 'lower'),
    ],
)
def test_identify__finds_a_load_or_a_link_alone(recorded, tmp_path, urdf, capsys, options, of):
    output, earlier = tmp_path / 'overlay.yaml', tmp_path / 'earlier.yaml'
    earlier.write_text('joints: {shoulder: {damping: 0.01, effort_offset: 0.001}}')
    arguments = [recorded(), '--urdf', urdf, '-o', str(output), '--quiet', '--json']
    laid = ['-p', f'overlay_file:={earlier}']
    assert main(['identify', *arguments, *laid, *options]) == 0
    changes = json.loads(capsys.readouterr().out)['changes']
    assert {change['of'] for change in changes} == {of}
    model = TreeModel.from_file(urdf, base='fixed', overlay=output)
    assert abs(model.tree.inertia[1, 4, 0] - 0.6) < 0.02, 'm c_z of 3 kg at 0.2 m'
    assert model.tree.damping[0] == pytest.approx(0.01)


@pytest.mark.parametrize(
    ('options', 'says'),
    [
        (['--trust', 'lower=0'], '--trust of lower is 0'),
        (['--payload', 'hand'], "link 'hand' is not part"),
        (['--only', 'hand'], "link or joint 'hand' is not part"),
        (['-p', "loops:=['base=lower point']"], 'closed loops, expected none'),
    ],
)
def test_identify__refuses_what_makes_no_sense(recorded, tmp_path, urdf, capsys, options, says):
    output = tmp_path / 'overlay.yaml'
    arguments = [recorded(), '--urdf', urdf, '-o', str(output), '--quiet']
    assert main(['identify', *arguments, *options]) == 1
    assert says in capsys.readouterr().err
    assert not output.exists()


COMMENTED = ARM.format(mass=2.0).replace(
    '<inertial>',
    """<!-- of steel --><visual><geometry><mesh filename="package://arm/lower.dae"/>
    </geometry></visual><inertial>""",
)


def test_identify__writes_a_urdf_that_is_the_robot_of_the_overlay(recorded, tmp_path, capsys):
    urdf, output, written = (tmp_path / name for name in ('arm.urdf', 'overlay.yaml', 'new.urdf'))
    urdf.write_text(COMMENTED)
    arguments = [recorded(), '--urdf', str(urdf), '-o', str(output), '--quiet']
    assert main(['identify', *arguments, '--urdf-out', str(written)]) == 0
    assert str(written) in capsys.readouterr().out
    text = written.read_text()
    assert '<!-- of steel -->' in text
    assert 'package://arm/lower.dae' in text
    options = {'base': 'fixed', 'coulomb_friction': True}
    truth = TreeModel.from_file(urdf, overlay=output, **options)
    alone = TreeModel.from_file(written, **options)
    both = TreeModel.from_file(written, overlay=output, **options)
    state = truth.state(np.eye(4), [0.3], np.zeros(6), [0.5])
    M, rotors = mass_matrix(truth, state), np.diag(truth.tree.armature)
    assert np.allclose(mass_matrix(both, state), M, rtol=0.0, atol=1e-9)
    assert np.allclose(mass_matrix(alone, state), M - rotors, rtol=0.0, atol=1e-9)
    for name in ('damping', 'friction'):
        assert np.array_equal(getattr(alone.tree, name), getattr(truth.tree, name))


def test_identify__writes_a_page_that_says_what_was_found(recorded, tmp_path, urdf, capsys):
    output, page = tmp_path / 'overlay.yaml', tmp_path / 'page.html'
    arguments = [recorded(), '--urdf', urdf, '-o', str(output), '--quiet', '--json']
    assert main(['identify', *arguments, '--report', str(page)]) == 0
    printed = json.loads(capsys.readouterr().out)
    data = json.loads(re.search(r'application/json">(.*?)</script>', page.read_text(), re.S)[1])
    (row,) = data['rows']
    assert row['name'] == 'shoulder'
    assert row['after'] < 0.2 * row['before']
    measured, described, identified = (np.array(curve[:-1]) for curve in row['values'])
    assert len(measured) + 1 == len(data['time'])
    assert np.std(identified - measured) < 0.2 * np.std(described - measured)
    assert data['rank'] == printed['rank'] > 0
    assert len(data['left']) == printed['numbers']
    names = {(change['of'], change['name']) for change in data['changes']}
    assert {('lower', 'mass'), ('shoulder', 'friction')} < names
    look_at(page, tmp_path, data)


def look_at(page, profile, data):
    pytest.importorskip('selenium')
    from selenium.webdriver.common.by import By
    from support.browser import errors, open_browser

    with open_browser(profile / 'profile', 'disable-gpu') as browser:
        browser.get(page.as_uri())
        shown = browser.execute_script(
            'return charts.efforts.series.slice(1).map((one, k) => '
            '[one.label, charts.efforts.data[k + 1]])'
        )
        (row,) = data['rows']
        assert dict(shown) == dict(
            zip(('measured', 'description', 'identified'), row['values'], strict=True)
        )
        rows = browser.find_elements(By.CSS_SELECTOR, '#changes tbody tr')
        assert len(rows) == sum(change['moved'] > 3.0 for change in data['changes'])
        browser.find_element(By.ID, 'all').click()
        rows = browser.find_elements(By.CSS_SELECTOR, '#changes tbody tr')
        assert len(rows) == len(data['changes'])
        assert not errors(browser)


def test_identify__takes_out_a_delay_that_is_to_be_found(recorded, tmp_path, urdf, capsys):
    bag = recorded(late=0.02, second=9.0)
    arguments = [bag, '--urdf', urdf, '-o', str(tmp_path / 'overlay.yaml'), '--quiet', '--json']
    assert main(['identify', *arguments, '--delay', 'auto']) == 0
    assert abs(json.loads(capsys.readouterr().out)['delay'] - 0.02) < 2e-3
    assert main(['inspect', bag, '--urdf', urdf, '-p', 'base:=fixed', '--for-identify']) == 0
    said = capsys.readouterr().out
    assert '--delay auto' in said
    assert 'combinations of masses, ' in said
    plain = recorded()  # of one frequency
    assert main(['identify', plain, *arguments[1:-1], '--delay', 'auto']) == 0
    assert 'no delay of efforts was taken out' in capsys.readouterr().out


def test_inspect__writes_a_motion_that_a_controller_plays(recorded, tmp_path, urdf, capsys):
    bag, file = recorded(), tmp_path / 'motion.yaml'
    arguments = ['inspect', bag, '--urdf', urdf, '-p', 'base:=fixed', '--propose', str(file)]
    assert main(arguments) == 0
    assert f'JointTrajectory "$(cat {file})"' in capsys.readouterr().out
    fields = known_types().fielddefs
    message = yaml.safe_load(file.read_text())
    assert message.keys() <= {name for name, _ in fields['trajectory_msgs/msg/JointTrajectory'][1]}
    points = {name for name, _ in fields['trajectory_msgs/msg/JointTrajectoryPoint'][1]}
    assert all(point.keys() <= points for point in message['points'])
    assert message['joint_names'] == ['shoulder']
    assert len(file.read_text()) < 2**17, 'the longest argument of a command'


# -- a body that floats ----------------------------------------------------------------------

BOX = """<robot name="box"><link name="body"><inertial><mass value="{mass}"/>
    <inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0 0 0.2"/><mass value="1"/>
    <inertia ixx="0.03" iyy="0.03" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="body"/><child link="arm"/>
    <origin xyz="0 0 0.1"/><axis xyz="0 1 0"/></joint></robot>"""


def swayed(t):
    """Return pose, joint position, body twist and joint rate at a time."""
    yaw, p = 0.6 * np.sin(2.0 * t), np.array([np.sin(3.0 * t), np.cos(2.2 * t), np.sin(4.1 * t)])
    v = np.array([3.0 * np.cos(3.0 * t), -2.2 * np.sin(2.2 * t), 4.1 * np.cos(4.1 * t)])
    H, c, s = np.eye(4), np.cos(yaw), np.sin(yaw)
    H[:3, :3], H[:3, 3] = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]], 0.2 * p
    turning = [0.0, 0.0, 1.2 * np.cos(2.0 * t)]
    twist = np.concatenate((0.2 * H[:3, :3].T @ v, turning))
    return H, [np.sin(5.0 * t)], twist, [5.0 * np.cos(5.0 * t)]


def write_floating(folder):
    """Write what a box of 6 kg measures that a wrench on it moves; its joint tells no effort.

    Odometry has a bag of its own.
    """
    rng, step, entries, of_base = np.random.default_rng(2), 1e-5, [], []
    truth = TreeModel.from_urdf(BOX.format(mass=6.0))
    make = Messages(truth)
    for k in range(700):
        stamp, t = k * 10_000_000, 0.01 * k
        state, later, earlier = truth.state(*swayed(t)), swayed(t + step), swayed(t - step)
        rates = [np.subtract(b, a) / (2 * step) for a, b in zip(earlier, later, strict=True)]
        acceleration = np.concatenate((rates[2], rates[3]))
        wrench = inverse_dynamics(truth, state, acceleration)[:6] + 0.2 * rng.normal(size=6)
        force = empty_message('geometry_msgs/msg/WrenchStamped')
        force.header = make.header(stamp, 'body')
        for place, values in ((force.wrench.force, wrench[:3]), (force.wrench.torque, wrench[3:])):
            place.x, place.y, place.z = map(float, values)
        sample = Sample(stamp, state, np.zeros(0))
        of_base.append(('odom', stamp, make.odometry(sample)))
        entries += [('w', stamp, force), ('joint_states', stamp, make.joint_state(sample))]
    written = {'bag': entries, 'odometry': of_base}
    return [
        str(write_bag(folder / name, messages, storage='sqlite3'))
        for name, messages in written.items()
    ]


FLOATING = ['-p', 'base:=floating', '-p', 'torque_source:=zero']


@pytest.fixture(scope='module')
def floating(tmp_path_factory):
    """Bags of the box, which no test changes."""
    return write_floating(tmp_path_factory.mktemp('floating'))


def test_identify__finds_a_floating_base_without_any_effort(floating, tmp_path, capsys):
    urdf, output = tmp_path / 'box.urdf', tmp_path / 'overlay.yaml'
    urdf.write_text(BOX.format(mass=5.0))
    arguments = [*floating, '--urdf', str(urdf), '-o', str(output)]
    assert main(['identify', *arguments, *FLOATING, '--quiet']) == 1
    assert 'something carries the robot; give contacts' in capsys.readouterr().err
    heard = ['-p', "wrench_topics:=['w body body']"]
    assert main(['identify', *arguments, *FLOATING, *heard, '--json', '--quiet']) == 0
    changes = json.loads(capsys.readouterr().out)['changes']
    mass = next(c for c in changes if (c['of'], c['name']) == ('body', 'mass'))
    arm = next(c for c in changes if (c['of'], c['name']) == ('arm', 'mass'))
    assert abs(mass['after'] + arm['after'] - 7.0) < 0.02
    assert {change['of'] for change in changes} == {'body', 'arm'}
    assert TreeModel.from_file(urdf, overlay=output).total_mass > 6.9
