# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin import``: columns of text and arrays into bags."""

import json
import re

import numpy as np
import pytest
from geolin_tools.importers import read_log, read_table
from scipy.spatial.transform import Rotation

from geolin_ros.cli import main
from geolin_ros.errors import RecordingError
from geolin_ros.offline.recording import Recording
from geolin_ros.spatial import se3

ARM = '<robot name="arm"><link name="base"/></robot>'
CSV = """
robot_description: arm.urdf
file: log.csv
time: {from: t, unit: ms}
topics:
  /joint_states:
    type: joint_states
    names: [elbow, shoulder]
    position: {from: [q2, q1], unit: deg}
    velocity: {from: [v2, v1], unit: rpm}
    effort: {from: [i2, i1], unit: N m, scale: 0.5}
"""
ROWS = 't,q1,q2,v1,v2,i1,i2\n1000,180,90,60,30,2,4\n1010.5,0,-90,0,0,0,-6\n'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'log.csv').write_text(ROWS)
    (tmp_path / 'arm.urdf').write_text(ARM)
    (tmp_path / 'map.yaml').write_text(CSV)
    return tmp_path


def messages(bag, role):
    with Recording([bag]) as recording:
        return [recorded.message for recorded in recording.messages([role])]


def test_import__writes_columns_of_text_in_si_units(folder, capsys):
    bag = folder / 'bag'
    arguments = [str(folder / 'map.yaml'), str(folder), '-o', str(bag), '--json', '--quiet']
    assert main(['import', *arguments]) == 0
    assert json.loads(capsys.readouterr().out)['rows'] == 2
    first, second = messages(bag, 'joint_states')
    assert first.name == ['elbow', 'shoulder']
    assert np.allclose(first.position, [np.pi / 2, np.pi])
    assert np.allclose(first.velocity, [np.pi, 2 * np.pi])
    assert np.allclose(second.effort, [-3.0, 0.0])
    assert (second.header.stamp.sec, second.header.stamp.nanosec) == (1, 10_500_000)
    (description,) = messages(bag, 'robot_description')
    assert description.data == ARM


ARRAYS = """
time: {rate: 100}
file: log.npz
topics:
  imu:
    type: imu
    frame: imu_link
    angular_velocity: {from: w, unit: deg/s}
    linear_acceleration: {from: a, unit: g}
  odom:
    type: odometry
    frame: world
    child_frame: base
    position: {from: p, unit: mm}
    orientation: {from: rpy, unit: rpy}
    linear_velocity: {from: [vx, vy, vz], unit: m/s}
  foot: {type: wrench, frame: sole, force: {from: fz, unit: kN}}
"""


def test_import__writes_arrays_as_messages_of_every_type(tmp_path):
    rng = np.random.default_rng(1)
    arrays = {name: rng.normal(size=(5, 3)) for name in ('w', 'a', 'p', 'rpy')}
    arrays |= {name: rng.normal(size=5) for name in ('vx', 'vy', 'vz', 'fz')}
    np.savez(tmp_path / 'log.npz', **arrays)
    (tmp_path / 'map.yaml').write_text(ARRAYS)
    bag = tmp_path / 'bag'
    assert main(['import', str(tmp_path / 'map.yaml'), str(tmp_path), '-o', str(bag)]) == 0
    imu, odom = messages(bag, 'imu')[3], messages(bag, 'odom')[3]
    assert imu.header.frame_id == 'imu_link'
    assert imu.header.stamp.nanosec == 30_000_000
    assert imu.angular_velocity.y == pytest.approx(np.deg2rad(arrays['w'][3, 1]))
    assert imu.linear_acceleration.z == pytest.approx(9.80665 * arrays['a'][3, 2])
    assert odom.pose.pose.position.x == pytest.approx(1e-3 * arrays['p'][3, 0])
    assert odom.twist.twist.linear.z == arrays['vz'][3]
    turn = odom.pose.pose.orientation
    expected = Rotation.from_euler('xyz', arrays['rpy'][3])
    found = Rotation.from_quat([turn.x, turn.y, turn.z, turn.w])
    assert (found * expected.inv()).magnitude() < 1e-9
    with Recording([bag]) as recording:
        recording.add_role('foot', 'geometry_msgs/msg/WrenchStamped')
        force = next(iter(recording.messages(['foot']))).message.wrench.force
    assert (force.x, force.z) == (0.0, pytest.approx(1e3 * arrays['fz'][0]))


COMMON = """
time: {from: 0, unit: ms, common: true, file: q.dat}
topics:
  joint_states:
    type: joint_states
    names: [hip]
    position: {file: q.dat, from: 1, unit: rad}
    effort: {file: tau.dat, from: 1, unit: N m}
"""


def joint_log(path, **time):
    topic = {
        'type': 'joint_states',
        'names': ['a', 'b'],
        'position': {'from': 'q', 'unit': 'rad', 'scale': [1.0, -2.0]},
    }
    mapping = path.with_suffix('.yaml')
    content = {'time': {'from': 't', 'unit': 's'} | time, 'topics': {'/joint_states': topic}}
    mapping.write_text(json.dumps(content))
    return mapping


@pytest.mark.parametrize('name', ['log.npz', 'log.h5', 'log.mat'])
def test_import__reads_arrays_of_any_order_and_scales_each_column(tmp_path, name, capsys):
    h5py = pytest.importorskip('h5py')
    path, t = tmp_path / name, np.arange(20) * 0.01 + 5.0
    q = np.asfortranarray(np.stack((t, t**2), axis=1))
    if name == 'log.npz':
        np.savez(path, t=t, q=q)
    else:
        with h5py.File(path, 'w') as file:
            for key, values in (('t', t[:, np.newaxis]), ('q', q)):
                is_mat = name == 'log.mat'
                one = file.create_dataset(key, data=values.T if is_mat else values)
                if is_mat:
                    one.attrs['MATLAB_class'] = b'double'
    bag = tmp_path / 'bag'
    arguments = [str(joint_log(path)), str(path), '-o', str(bag), '--quiet']
    assert main(['import', *arguments]) == 0
    found = np.array([message.position for message in messages(bag, 'joint_states')])
    assert np.array_equal(found, q * [1.0, -2.0])
    with pytest.raises(SystemExit):
        main(['import', '--preview', str(path)])
    assert re.search(r'\bt +20 x 1  5 to 5.19, rises by 0.01 ', capsys.readouterr().out)


def test_import__differentiates_rates_of_a_joint_that_has_none(folder):
    rows = [f'{10 * k},{k * k},{2 * k},,1,0,{k or ""}' for k in range(1, 9)]
    (folder / 'log.csv').write_text('\n'.join(('t,q1,q2,v1,v2,i1,i2', *rows)))
    topic = read_log(folder / 'map.yaml', folder).topics['/joint_states']
    k = np.arange(1, 9)
    assert np.allclose(topic.fields['velocity'][:, 0], 2.0 * np.pi / 60.0)  # as it is
    assert np.allclose(topic.fields['velocity'][1:-1, 1], np.deg2rad(2.0 * k[1:-1] / 0.01))
    (folder / 'log.csv').write_text('\n'.join(('t,q1,q2,v1,v2,i1,i2', '5,,1,1,1,1,1')))
    assert np.isnan(read_table(folder / 'log.csv')['q1']).all()
    (folder / 'log.csv').write_text('t,q1\n1,2', encoding='utf-8-sig')
    assert read_table(folder / 'log.csv').keys() == {'t', 'q1'}
    (folder / 'log.csv').write_text(ROWS.replace(',30,', ',fast,'))
    (folder / 'cut.npz').write_bytes(b'PK\3\4')
    np.savez(folder / 'odd.npz', t=k)
    odd = bytearray((folder / 'odd.npz').read_bytes())
    odd[odd.index(b'PK\1\2') + 10] = 99  # a compression that nobody has
    (folder / 'odd.npz').write_bytes(odd)
    for name in ('log.csv', 'cut.npz', 'odd.npz'):
        with pytest.raises(RecordingError, match='cannot be read'):
            read_table(folder / name)


def test_import__makes_stamps_of_arrival_even_on_request(tmp_path):
    path, t = tmp_path / 'log.npz', np.arange(200) * 0.01
    np.savez(path, t=t + 0.002 * np.random.default_rng(0).random(200), q=np.zeros((200, 2)))
    even = read_log(joint_log(path, even=True), path).time
    assert np.ptp(np.diff(even)) < 1e-12
    assert np.abs(even - t - 0.001).max() < 5e-4
    np.savez(path, t=np.r_[t, t[-1] + 1.0], q=np.zeros((201, 2)))
    with pytest.raises(RecordingError, match=r'step of 1 s, .* samples are missing'):
        read_log(joint_log(path, even=True), path)


def test_import__differentiates_odometry_without_a_twist(tmp_path):
    path, twist = tmp_path / 'log.npz', np.array([0.3, -0.1, 0.05, 0.4, 0.2, -0.7])
    t = np.arange(50) * 0.01 + 1e9
    H = [se3.exp(twist * (x - t[0])) for x in t]
    q = [Rotation.from_matrix(h[:3, :3]).as_quat() for h in H]
    np.savez(path, t=t, p=[h[:3, 3] for h in H], q=q)
    topic = {
        'type': 'odometry',
        'position': {'from': 'p', 'unit': 'm'},
        'orientation': {'from': 'q', 'unit': 'xyzw'},
    }
    content = {'time': {'from': 't', 'unit': 's'}, 'topics': {'/odom': topic}}
    (tmp_path / 'map.yaml').write_text(json.dumps(content | {'robot_description': 'arm.urdf'}))
    (tmp_path / 'arm.urdf').write_text(ARM)
    bag = tmp_path / 'bag'
    assert main(['import', str(tmp_path / 'map.yaml'), str(path), '-o', str(bag), '--quiet']) == 0
    for message in messages(bag, 'odometry'):
        part = message.twist.twist
        found = [*vars(part.linear).values(), *vars(part.angular).values()]
        assert np.allclose([x for x in found if isinstance(x, float)], twist, atol=1e-5)
    with Recording([bag]) as recording:
        (described,) = recording.messages(['robot_description'])
        assert described.time == round(t[0] * 1e9)
    q[7][0] = np.nan
    np.savez(path, t=t, p=[h[:3, 3] for h in H], q=q)
    with pytest.raises(RecordingError, match=r'orientation of row 7 is \[ *nan'):
        read_log(tmp_path / 'map.yaml', path)


def test_import__keeps_the_times_that_all_files_have(tmp_path):
    (tmp_path / 'q.dat').write_text('1 0.1\n2 0.2\n3 0.3\n5 0.5\n')
    (tmp_path / 'tau.dat').write_text('2\t20\n3\t30\n4\t40\n5\t50\n6\t60\n')
    (tmp_path / 'map.yaml').write_text(COMMON)
    log = read_log(tmp_path / 'map.yaml', tmp_path)
    assert np.allclose(log.time, [0.002, 0.003, 0.005])
    fields = log.topics['joint_states'].fields
    assert fields['position'][:, 0].tolist() == [0.2, 0.3, 0.5]
    assert fields['effort'][:, 0].tolist() == [20.0, 30.0, 50.0]
    (tmp_path / 'map.yaml').write_text(COMMON.replace('common: true, ', ''))
    with pytest.raises(RecordingError, match='effort has 5 rows, expected 4'):
        read_log(tmp_path / 'map.yaml', tmp_path)


@pytest.mark.parametrize(
    ('old', 'new', 'says'),
    [
        ('unit: deg', 'unit: degrees', 'expected one of rad, deg'),
        ('unit: N m, scale: 0.5', 'unit: A', 'N m per ampere'),
        ('[q2, q1]', '[q2, q3]', "'q3' is not part of log.csv"),
        ('[q2, q1]', 'q2', 'has 1 columns, expected 2'),
        ('[elbow, shoulder]', '[]', 'names are []'),
        ('type: joint_states', 'type: joints', 'did you mean'),
        ('position', 'positions', 'did you mean'),
        ('file: log.csv', 'file: lag.csv', 'cannot be read'),
        ('file: log.csv', '', 'names no file'),
        ('arm.urdf', 'leg.urdf', 'expected a URDF'),
        ('{from: t, unit: ms}', '[t]', 'expected a mapping'),
        ('unit: ms', 'unit: ms, width: 0.5', 'not rows of 0.5'),
        ('{from: t, unit: ms}', '{rate: 0}', 'expected a number above 0'),
        ('{from: t, unit: ms}', '{rate: 1.0e-10}', 'correct the unit'),
        ('scale: 0.5', 'scale: half', "scale is 'half', expected a number"),
    ],
)
def test_import__says_what_is_wrong_with_a_mapping(folder, capsys, old, new, says):
    path, bag = folder / 'map.yaml', folder / 'bag'
    path.write_text(CSV.replace(old, new))
    assert main(['import', str(path), str(folder), '-o', str(bag)]) == 1
    assert says in capsys.readouterr().err
    assert not bag.exists()
