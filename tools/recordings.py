# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is estimated and identified from recordings of real robots, beside what was measured.

    GEOLIN_RECORDINGS=FOLDER python tools/recordings.py [--table FILE]

The folder holds `go1_serow`, `icub_walking`, `hopper_teststand` and the arms, each with a README
that says where it is from; config/recordings says which column is what. The state estimator runs
as the node does, by messages. Plain leg odometry stands beside it: the stance feet do not move,
the orientation is that of the gyro, levelled by the accelerometer.
"""

import argparse
import os
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from geolin_estimation.base_state import Feet
from geolin_estimation.base_stream import BaseStream, base_settings
from geolin_tools.importers import read_log
from scipy.optimize import least_squares
from scipy.signal import savgol_filter
from scipy.spatial.transform import Rotation, Slerp

from geolin_ros import TreeModel
from geolin_ros.errors import ModelWarning
from geolin_ros.stream.inputs.differentiation import Differentiator
from geolin_ros.stream.message_fields import write_stamp
from geolin_ros.stream.parameters.file import default_values

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get('GEOLIN_RECORDINGS', ROOT.parent / 'shared' / 'recordings'))
CLOCK_STEP = 0.01
"""Motion capture of go1_serow ran at 100 Hz and lost frames, without stamps [s]."""


class Motion(NamedTuple):
    """Of the base in a world with z up."""

    time: np.ndarray
    p: np.ndarray
    R: Rotation
    v: np.ndarray
    """In the world; NaN: not known."""
    w: np.ndarray
    """In base axes."""

    def at(self, index):
        """Return some of the samples."""
        return Motion(*(x[index] for x in self))


class Robot(NamedTuple):
    """A recording, with how its feet are known to stand."""

    name: str
    model: TreeModel
    values: dict
    time: np.ndarray
    s: np.ndarray
    rates: np.ndarray | None
    imu: np.ndarray
    forces: np.ndarray
    """(N, feet)"""
    segment: float
    """Of the way over which drift is measured [m]."""


def logged(name, part=''):
    """Return the log of a recording by its mapping in config/recordings, and its folder."""
    folder = FOLDER / name / part
    return read_log(ROOT / 'config' / 'recordings' / f'{name}.yaml', folder), folder


def joints_of(log, field, names):
    """Return a field of the joint states (N, n) in the order of names."""
    topic = log.topics['/joint_states']
    return topic.fields[field][:, [topic.message.name.index(name) for name in names]]


def imu_of(log):
    """Return gyro and accelerometer (N, 6)."""
    fields = log.topics['/imu'].fields
    return np.hstack((fields['angular_velocity'], fields['linear_acceleration']))


def normal_forces(log, feet):
    """Return the forces of feet (N, k) along z."""
    return np.stack([log.topics[f'/{foot}/force'].fields['force'][:, 2] for foot in feet], axis=1)


def evenly(log):
    """Return times (N,) from 0 on of stamps of arrival, which jitter [s]."""
    return np.linspace(0.0, log.time[-1] - log.time[0], log.time.size)


def urdf_with_imu(folder):
    """Return the URDF of icub_walking with a link where its IMU is."""
    xyz, rpy = '0.085155 -0.011 -0.112309', '-2.09439521059 0 -1.57079632679'
    return (
        (folder / 'model.urdf')
        .read_text()
        .replace(
            '</robot>',
            '<link name="imu"/><joint name="imu_joint" type="fixed"><parent link="root_link"/>'
            f'<child link="imu"/><origin xyz="{xyz}" rpy="{rpy}"/></joint></robot>',
        )
    )


def values_of(feet, kind, on, off, **more):
    """Return parameter values with a force topic for each foot."""
    return default_values('state_estimator') | {
        'contact_source': 'forces',
        'contacts': [f'{foot} {kind}' for foot in feet],
        'foot_force_topics': [f'{foot}/force {foot}' for foot in feet],
        'contact_on_force': on,
        'contact_off_force': off,
        **more,
    }


def go1_robot():
    """Return go1_serow and its folder."""
    log, folder = logged('go1_serow')
    model, feet = (
        TreeModel.from_urdf(log.description),
        ('FR_foot', 'FL_foot', 'RR_foot', 'RL_foot'),
    )
    values = values_of(feet, 'point', 300.0, 220.0, foot_radius=0.02)
    s = joints_of(log, 'position', model.joint_names)
    time = log.time - log.time[0]
    robot = Robot(
        'go1_serow', model, values, time, s, None, imu_of(log), normal_forces(log, feet), 1.0
    )
    return robot, folder


def go1():
    """Return robot and truth of go1_serow, and how far its marker is above the base [m]."""
    robot, folder = go1_robot()
    frames = np.loadtxt(folder / 'go1_odom.csv', delimiter=',', skiprows=1)
    return robot, captured(frames, levelled(robot), robot.time), 0.12


def icub():
    """Return robot and truth of icub_walking, which is of the base."""
    log, folder = logged('icub_walking')
    names = log.topics['/joint_states'].message.name
    model = TreeModel.from_urdf(urdf_with_imu(folder), joints=list(names))
    values = values_of(('l_sole', 'r_sole'), 'surface', 100.0, 80.0, imu_link='imu', sole=0.08)
    values['deviation.slip'] = 0.003  # of flat soles
    time = evenly(log)
    s, rates = (joints_of(log, field, model.joint_names) for field in ('position', 'velocity'))
    forces = normal_forces(log, ('l_sole', 'r_sole'))
    robot = Robot('icub_walking', model, values, time, s, rates, imu_of(log), forces, 0.3)
    base = log.topics['/odom'].fields
    p, R = base['position'], Rotation.from_quat(base['orientation'])
    v, a = (savgol_filter(p, 11, 3, deriv=d, delta=time[1], axis=0) for d in (1, 2))
    wild = np.linalg.norm(a, axis=1) > 8.0  # the reference jumps, then stands still
    v[np.convolve(wild, np.ones(51), 'same') > 0] = np.nan
    return robot, Motion(time, p, R, v, np.zeros_like(v)), None


# ---- plain leg odometry


def differentiated(robot, cutoff=50.0):
    """Return joint rates as the nodes make them of positions."""
    differentiator, rates = Differentiator(cutoff), []
    for t, s in zip(robot.time, robot.s, strict=True):
        differentiator.add(round(t * 1e9), s)
        rates.append(np.zeros_like(s) if differentiator.rate is None else differentiator.rate)
    return rates


def standing(robot):
    """Return which feet stand (N, feet), by the thresholds that the stream has."""
    on, off = robot.values['contact_on_force'], robot.values['contact_off_force']
    holds, state = np.zeros(robot.forces.shape, dtype=bool), np.zeros(robot.forces.shape[1], bool)
    for k, force in enumerate(np.abs(robot.forces)):
        state = holds[k] = force >= np.where(state, off, on)
    return holds


def levelled(robot, gain=0.3):
    """Return the axes of the IMU in the world, (N, 3, 3)."""
    up = robot.imu[:40, 3:].mean(axis=0)
    R = Rotation.align_vectors([(0.0, 0.0, 1.0)], [up])[0].as_matrix()
    found, last = [], 0.0
    for t, sample in zip(robot.time, robot.imu, strict=True):
        tilt = np.cross(sample[3:] / np.linalg.norm(sample[3:]), R[2])
        R = R @ Rotation.from_rotvec((sample[:3] + gain * tilt) * (t - last)).as_matrix()
        found.append(R)
        last = t
    return np.array(found)


def leg_odometry(robot, feet):
    """Return the motion of the base if feet that stand do not move."""
    R, holds, names = levelled(robot), standing(robot), list(dict.fromkeys(feet.names))
    columns = np.array([names.index(name) for name in feet.names])
    places, speeds, p, v, seen = [], [], np.zeros(3), np.zeros(3), None
    rates = differentiated(robot) if robot.rates is None else robot.rates
    for k, (s, rate) in enumerate(zip(robot.s, rates, strict=True)):
        h, J = feet.seen(s)
        world, gyro = h @ R[k].T, robot.imu[k, :3]
        down = holds[k, columns] & holds[max(k - 1, 0), columns]
        if down.any() and k:
            v = -R[k] @ (J[down, :3, 6:] @ rate + np.cross(gyro, h[down])).mean(axis=0)
            p = p - (world - seen)[down].mean(axis=0)
        elif k:
            p = p + v * (robot.time[k] - robot.time[k - 1])
        seen = world
        places.append(p)
        speeds.append(v)
    arm, gyro = feet.imu_H_base[:3, 3], robot.imu[:, :3]
    base = Rotation.from_matrix(R @ feet.imu_H_base[:3, :3])
    v = np.array(speeds) + np.einsum('kij,kj->ki', R, np.cross(gyro, arm))
    w = gyro @ feet.imu_H_base[:3, :3]
    return Motion(robot.time, np.array(places) + R @ arm, base, v, w)


# ---- the state estimator


def estimated(robot):
    """Return the motion of the base by the stream of the node, and when it began."""
    settings = base_settings(robot.values, robot.model.base_link)
    stream = BaseStream(robot.model, settings)
    forces = [foot.topic for foot in settings.contacts.foot_forces]
    found = []
    for k, t in enumerate(robot.time):
        stamp = SimpleNamespace(sec=0, nanosec=0)
        write_stamp(stamp, 1_000_000_000 + round(t * 1e9))
        header = SimpleNamespace(stamp=stamp, frame_id='')
        gyro, acceleration = (_vector(x) for x in (robot.imu[k, :3], robot.imu[k, 3:]))
        unknown = [0.0] * 9
        imu = SimpleNamespace(
            header=header,
            angular_velocity=gyro,
            linear_acceleration=acceleration,
            angular_velocity_covariance=unknown,
            linear_acceleration_covariance=unknown,
        )
        joints = SimpleNamespace(
            header=header, name=list(robot.model.joint_names), position=robot.s[k], velocity=()
        )
        messages = [(settings.imu.topic, imu)]
        for topic, force in zip(forces, robot.forces[k], strict=True):
            wrench = SimpleNamespace(force=_vector((0.0, 0.0, force)))
            messages.append((topic, SimpleNamespace(header=header, wrench=wrench)))
        for topic, message in (*messages, ('joint_states', joints)):
            for answer in stream.take(topic, message):
                H, v = answer.estimate.H, answer.estimate.v
                found.append((t, H[:3, 3], H[:3, :3], H[:3, :3] @ v[:3], v[3:]))
    t, p, R, v, w = map(np.array, zip(*found, strict=True))
    return Motion(t, p, Rotation.from_matrix(R), v, w)


def _vector(value):
    return SimpleNamespace(**dict(zip('xyz', map(float, value), strict=True)))


# ---- the clock of the motion capture


def captured(frames, R_imu, time):
    """Return the truth of motion capture without stamps, on the clock of the robot.

    Frames are whole hundredths of a second apart: how many is chosen so that their speed is
    smooth and their orientation is that of the gyro, by dynamic programming over all frames.
    Position and velocity of the estimators take no part in it.
    """
    R, grid = Rotation.from_quat(frames[:, 4:8]), np.arange(0.0, time[-1], CLOCK_STEP)
    gyro = Slerp(time, Rotation.from_matrix(R_imu))(grid)
    turned = np.r_[0.0, (R[:-1].inv() * R[1:]).magnitude()]
    moved = np.r_[0.0, np.linalg.norm(np.diff(frames[:, 1:4], axis=0), axis=1)]
    size = np.hypot(moved, 0.3 * turned)
    index, drift, aligned = np.linspace(0, grid.size - 1, len(R)).astype(int), 0.0, R
    for width in (0.05, 0.02, 0.01, 0.01):
        e = (Rotation.from_rotvec(_about_z(-drift * grid)) * gyro).as_euler('ZYX')
        f = aligned.as_euler('ZYX')
        e[:, 0], f[:, 0] = np.unwrap(e[:, 0]), np.unwrap(f[:, 0])
        f[:, 0] += 2 * np.pi * np.round((e[0, 0] - f[0, 0]) / (2 * np.pi))
        if width == 0.05:  # nothing is known of the axes yet
            for x in (e, f):
                x -= np.median(x, axis=0) * (0, 1, 1) + x[0] * (1, 0, 0)
            drift_guess = (e[-1, 0] - f[-1, 0]) / grid.size
            e[:, 0] -= drift_guess * np.arange(grid.size)
        index = _steps(f / width, e / width, size * 1e3)
        walking = np.flatnonzero((index > 400) & (index < 2150))

        def miss(x, use=walking, at=index):
            world = Rotation.from_rotvec(_about_z(-x[6] * grid[at[use]])) * gyro[at[use]]
            frame = Rotation.from_rotvec(x[:3]) * R[use] * Rotation.from_rotvec(x[3:6])
            return (world.inv() * frame).as_rotvec().ravel()

        x = least_squares(miss, np.zeros(7), loss='soft_l1', f_scale=0.02).x
        drift = x[6]
        aligned = Rotation.from_rotvec(x[:3]) * R * Rotation.from_rotvec(x[3:6])
    stamps = grid[index]
    at = time[(time > 4.3) & (time < 21.5)][::4]
    p, v = _smoothed(stamps, frames[:, 1:4], at)
    return Motion(at, p, Slerp(stamps, aligned)(at), v, np.zeros_like(v))


def _about_z(angle):
    angle = np.asarray(angle)
    return np.stack((0 * angle, 0 * angle, angle), axis=-1)


def _steps(f, e, size, most=60, window=175):
    """Return the index in e (N, 3) of each frame f (M, 3): the path of the least cost."""
    M, N = len(f), len(e)
    speed = np.array([np.percentile(size[max(0, k - 12) : k + 12], 25) for k in range(M)])
    cost, back = np.full((M, N), np.inf), np.zeros((M, N), dtype=int)
    steps = np.arange(1, most)
    for m in range(M):
        j = np.arange(max(0, m * N // M - window), min(N, m * N // M + window))
        match = np.minimum((f[m] - e[j]) ** 2, 9.0).sum(axis=1)
        if m == 0:
            cost[0, j] = match
            continue
        at = j[:, np.newaxis] - steps
        price = np.where(at >= 0, cost[m - 1, np.maximum(at, 0)], np.inf)
        price = price + 0.05 * np.sqrt(steps - 1.0) + 0.3 * np.abs(size[m] - speed[m] * steps)
        best = price.argmin(axis=1)
        cost[m, j], back[m, j] = match + price[np.arange(j.size), best], steps[best]
    path, j = np.zeros(M, dtype=int), int(cost[-1].argmin())
    for m in range(M - 1, -1, -1):
        path[m] = j
        j -= back[m, j]
    return path


def _smoothed(stamps, places, at, width=0.06):
    """Return positions and velocities by parabolas through the neighbours; NaN where few are."""
    p = np.array([np.interp(at, stamps, x) for x in places.T]).T
    v = np.full_like(p, np.nan)
    for k, t in enumerate(at):
        near = np.abs(stamps - t) < width
        if near.sum() >= 5:
            u = (stamps[near] - t) / width
            weight = (1.0 - np.abs(u) ** 3) ** 1.5
            fit = np.polynomial.polynomial.polyfit(u, places[near], 2, w=weight)
            p[k], v[k] = fit[0], fit[1] / width
    return p, v


# ---- comparison


def compared(truth, motion, segment, marker):
    """Return drift [%] and yaw drift [deg] over segments, and RMS of the velocity [m/s].

    Position and yaw are aligned at the start of each segment of the way; of motion capture the
    place of its marker on the base is the one that suits the velocities best.
    """
    at = np.searchsorted(motion.time, truth.time - 1e-9)
    motion = motion.at(np.minimum(at, motion.time.size - 1))
    known = np.isfinite(truth.v).all(axis=1) & (np.linalg.norm(truth.v, axis=1) < 1.5)
    own, filtered = truth.R.inv().apply(truth.v), motion.R.inv().apply(motion.v)
    arm = np.zeros(3)
    if marker is not None:
        rows = np.array([np.cross(w, np.eye(3)).T for w in motion.w[known]]).reshape(-1, 3)
        arm = np.linalg.lstsq(rows, (own - filtered)[known].ravel(), rcond=None)[0]
        arm[2] = marker
    filtered = filtered + np.cross(motion.w, arm)
    p = motion.p + motion.R.apply(arm)
    way = np.r_[0.0, np.linalg.norm(np.diff(truth.p[:, :2], axis=0), axis=1).cumsum()]
    yaw, yaw_found = (np.unwrap(m.R.as_euler('ZYX')[:, 0]) for m in (truth, motion))
    drift, turn = [], []
    for i in range(0, way.size, 10):
        j = np.searchsorted(way, way[i] + segment)
        if j == way.size:
            break
        turned = Rotation.from_rotvec((0.0, 0.0, yaw[i] - yaw_found[i]))
        drift.append(np.linalg.norm(turned.apply(p[j] - p[i]) - (truth.p[j] - truth.p[i])))
        turn.append((yaw_found[j] - yaw_found[i]) - (yaw[j] - yaw[i]))
    error = (own - filtered)[known]
    return (
        100.0 * float(np.mean(drift)) / segment,
        float(np.rad2deg(np.sqrt(np.mean(np.square(turn))))),
        float(np.sqrt((error**2).sum(axis=1).mean())),
    )


def of_odometries(robot, truth, marker):
    """Return drift, yaw drift and velocity error of plain leg odometry and of the estimator."""
    settings = base_settings(robot.values, robot.model.base_link)
    feet = Feet(robot.model, settings.imu.link, settings.contacts.contacts, robot.values['sole'])
    return [
        compared(truth, motion, robot.segment, marker)
        for motion in (leg_odometry(robot, feet), estimated(robot))
    ]


TEXT = """\
state_estimator beside plain leg odometry (stance feet do not move, orientation by gyro and
accelerometer) with the same contacts, on public recordings. Drift over all segments of the given
length, aligned in position and yaw at their starts; root mean square error of the velocity in base
axes. go1_serow: motion capture without stamps, its clock fitted by orientation.
icub_walking: without the half second about the jump of its reference.

Yaw of go1_serow drifts by 0.26 and 0.36 deg/s, +- 0.05: point feet that slip do not determine the
gyro's bias about the vertical. With deviation.gyro_bias 0.001 rad/s the ratio is 1.00."""


def main():
    """Print the table, or write it; the exit status is 1 if a goal is missed."""
    import arms  # beside the program, and they import it
    import evidence
    import torques

    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--table', type=Path)
    options = parser.parse_args()
    if not FOLDER.is_dir():
        print(f'recordings of real robots are not in {FOLDER}')
        return 1
    rows, good = [], True
    for load in (go1, icub):
        robot, truth, marker = load()
        plain, own = of_odometries(robot, truth, marker)
        name, segment = robot.name, robot.segment
        way = np.linalg.norm(np.diff(truth.p[:, :2], axis=0), axis=1).sum()
        ratio = np.divide(own, plain)
        good &= bool(ratio[0] <= 0.7 and ratio[2] <= 0.7)
        for title, values in (('leg odometry', plain), ('state_estimator', own)):
            cells = (f'{values[0]:.1f} %', f'{values[1]:.2f}', f'{values[2]:.3f}')
            rows.append((name, f'{way:.1f} m', f'{segment:g} m', title, *cells))
        rows.append((name, '', '', 'ratio', *(f'{x:.2f}' for x in ratio)))
    head = ('recording', 'way', 'segments', '', 'drift', 'yaw drift [deg]', 'velocity [m/s]')
    lines = [TEXT, '', *evidence.table(head, rows)]
    forces = [
        (name, force, f'{late * 1e3:.0f}', *(f'{value:.2f}' for value in values))
        for name, force, (late, *values) in torques.of_forces()
    ]
    lines += ['', torques.TEXT, '', *evidence.table(torques.HEAD, forces)]
    identified = list(arms.of_arms())
    good &= all(met for _, met in identified)
    lines += ['', arms.TEXT, '', *evidence.table(arms.HEAD, [row for row, _ in identified])]
    text = '\n'.join((*lines, ''))
    print(text)
    if options.table:
        options.table.write_text(text)
    return 0 if good else 1


if __name__ == '__main__':
    warnings.simplefilter('ignore', ModelWarning)
    sys.exit(main())
