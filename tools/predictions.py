# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How well A, B and drift say what a real robot does next, by its description and as identified.

Also what it does after changes of its efforts.

GEOLIN_RECORDINGS=FOLDER python tools/predictions.py [--table FILE]
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import arms
import evidence
import numpy as np
import recordings
from arms import ARMS
from geolin_tools.identification import identify, overlay_of
from recordings import FOLDER
from scipy.integrate import cumulative_trapezoid
from scipy.linalg import expm
from scipy.signal import butter, savgol_filter, sosfiltfilt
from scipy.spatial.transform import Rotation

from geolin_ros import Contact, Linearizer, TreeModel, urdf
from geolin_ros.dynamics.functions import inverse_dynamics
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ModelWarning

TRIED = ('panda_gaz, last third', 'UR10, second half', 'kuka_lwr4, run 2')
"""Of the arms."""
HORIZONS = (0.005, 0.02, 0.05)
STEP = 0.001
PASTS = (0.02, 0.05)
"""Constant accelerations are slopes over so long a time before [s]; the better counts."""
POINTS = 40
"""Of a recording, evenly spread."""
CHANGE, APART = 0.02, 0.01
"""Changes of effort are over so long a time, and their moments so far from each other [s]."""
ORDERS = (1, 2, 4)
"""Of black boxes; the best counts."""
PERIOD = 0.005
"""Of black boxes [s]."""
TAIL = 100
"""Samples that are enough for these slopes, at 1 kHz."""
QUIET = 0.5
"""Left out at both ends, where the filter has no neighbours on one side [s]."""


class Motion(NamedTuple):
    """A recording, filtered forwards and backwards: rows over even times."""

    model: TreeModel
    time: np.ndarray
    H: np.ndarray
    """(N, 4, 4) of the base."""
    s: np.ndarray
    v: np.ndarray
    """(N, 6) body twist of the base."""
    r: np.ndarray
    nu_dot: np.ndarray
    """(N, m)"""
    effort: Callable[[int], np.ndarray]
    """At a sample."""
    until: Callable[[float], 'Motion']
    """Its last samples at a time, by what was measured until then."""
    contacts: Sequence[Contact] = ()
    on_ground: np.ndarray | None = None
    """(N, contacts)"""
    fewest: int = 1
    """So many contacts hold wherever a prediction starts."""
    rail: int = 0
    """So many joints, the first ones, are a rail."""

    def state(self, k):
        """Return the state at a sample."""
        return self.model.state(self.H[k], self.s[k], self.v[k], self.r[k])

    def starts(self):
        """Return evenly spread samples of `free` ones."""
        free = self.free()
        return free[np.linspace(0, free.size - 1, POINTS).astype(int)]

    def free(self):
        """Return samples from which contacts stay as they are until the longest horizon."""
        period = self.time[1] - self.time[0]
        ahead, edge = round(HORIZONS[-1] / period) + 1, round(QUIET / period)
        free = np.arange(edge, self.time.size - edge - ahead)
        if self.on_ground is not None:
            near = [self.on_ground[free + d] for d in range(-ahead, ahead + 1)]
            same = np.all([np.all(x == near[0], axis=1) for x in near], axis=0)
            free = free[same & (self.on_ground[free].sum(axis=1) >= self.fewest)]
        return free


class Filter:
    """Evenly sampled signals of one recording, low-pass forwards and backwards."""

    def __init__(self, time, cutoff):
        self.given = time
        period = float(np.median(np.diff(time)))
        self.time = np.arange(time[0], time[-1], period)
        self._period = period
        self._sections = butter(4, cutoff, output='sos', fs=1.0 / period)

    def __call__(self, rows):
        """Return rows (N, ...) at even times."""
        columns = np.reshape(rows, (len(rows), -1)).T
        even = [np.interp(self.time, self.given, column) for column in columns]
        return sosfiltfilt(self._sections, np.stack(even, axis=1), axis=0)

    def rate(self, rows):
        """Return the derivative of what was filtered."""
        return savgol_filter(rows, 7, 6, deriv=1, delta=self._period, axis=0)


# ---- recordings


def arm_motion(model, signals, cutoff=20.0):
    """Return the motion of an arm."""
    smooth = Filter(signals.time, cutoff)
    s, r, effort = map(smooth, (signals.position, signals.rate, signals.effort))
    if model.effort_scale:
        effort = effort * np.asarray(model.effort_scale) - np.asarray(model.effort_offset)
    count = smooth.time.size
    H, still = np.broadcast_to(np.eye(4), (count, 4, 4)), np.zeros((count, 6))

    def until(time):
        return arm_motion(model, signals.between(0.0, share_of(signals.time, time)), cutoff)

    return Motion(model, smooth.time, H, s, still, r, smooth.rate(r), effort.__getitem__, until)


def share_of(times, time):
    """Return the part of all times until one."""
    return (time - times[0]) / (times[-1] - times[0])


def floating_motion(robot, p, R, cutoff):
    """Return the motion of a robot that walks; efforts are those that its accelerations take."""
    smooth = Filter(robot.time, cutoff)
    q = R.as_quat()
    q *= np.cumprod(np.r_[1.0, np.sign((q[1:] * q[:-1]).sum(axis=1))])[:, np.newaxis]
    turned, place, s = Rotation.from_quat(smooth(q)), smooth(p), smooth(robot.s)
    r = smooth.rate(s) if robot.rates is None else smooth(robot.rates)
    H = np.tile(np.eye(4), (smooth.time.size, 1, 1))
    H[:, :3, :3], H[:, :3, 3] = turned.as_matrix(), place
    spin = smooth.rate(H[:, :3, :3])
    skew = np.swapaxes(H[:, :3, :3], 1, 2) @ spin
    w = np.stack((skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]), axis=1)
    v = np.hstack((turned.inv().apply(smooth.rate(place)), w))
    settings = recordings.base_settings(robot.values, robot.model.base_link)
    contacts = settings.contacts.contacts
    holds = recordings.standing(robot)
    half = 0.5 * float(np.median(np.diff(robot.time)))  # the nearest
    at = np.clip(np.searchsorted(robot.time, smooth.time - half), 0, len(holds) - 1)
    nu_dot = np.hstack((smooth.rate(v), smooth.rate(r)))
    linearizer = Linearizer(robot.model, contacts)

    def effort(k):
        linearizer.activate(names(contacts, holds[at[k]]))
        state = robot.model.state(H[k], s[k], v[k], r[k])
        J = linearizer(state, np.zeros(robot.model.n)).J
        all_forces = inverse_dynamics(robot.model, state, nu_dot[k])
        ground = np.linalg.lstsq(J[:, :6].T, all_forces[:6], rcond=None)[0]
        return (all_forces - J.T @ ground)[6:]

    model = robot.model

    def until(time):
        known = robot.time <= time
        return floating_motion(cut(robot, known), p[known], R[known], cutoff)

    return Motion(
        *(model, smooth.time, H, s, v, r, nu_dot, effort, until),
        contacts=contacts,
        on_ground=holds[at],
    )


def cut(robot, rows):
    """Return a recording of some rows."""
    rates = None if robot.rates is None else robot.rates[rows]
    parts = {name: getattr(robot, name)[rows] for name in ('time', 's', 'imu', 'forces')}
    return robot._replace(rates=rates, **parts)


def names(contacts, holds):
    """Return the frames that hold."""
    return [contact.frame for contact, hold in zip(contacts, holds, strict=True) if hold]


def go1():
    """Return the motion of go1_serow by the state estimator.

    Its corrections are steps that no robot makes: below 2 Hz the place is its own, above that the
    accelerometer's, integrated twice.
    """
    robot, _ = recordings.go1_robot()
    found = recordings.estimated(robot)
    return go1_motion(cut(robot, robot.time >= found.time[0] - 1e-9), found)


def go1_motion(robot, found):
    """Return the motion of go1_serow, or a part of it, by that of the state estimator."""
    specific = found.R.apply(robot.imu[:, 3:]) + robot.model.gravity
    v = cumulative_trapezoid(specific, robot.time, axis=0, initial=0.0)
    way = cumulative_trapezoid(v, robot.time, axis=0, initial=0.0)
    slow = Filter(robot.time, 2.0)
    off = slow(found.p - way)
    p = way + np.stack([np.interp(robot.time, slow.time, x) for x in off.T], axis=1)

    def until(time):
        known = robot.time <= time
        return go1_motion(cut(robot, known), found.at(known))

    return floating_motion(robot, p, found.R, 15.0)._replace(fewest=2, until=until)


def icub():
    """Return the motion of icub_walking by the base pose of its recording."""
    robot, truth, _ = recordings.icub()
    return floating_motion(robot, truth.p, truth.R, 8.0)


def hopper(part='2019-07-04_16-25-06', cutoff=20.0):
    """Return the motion of a leg on a rail while its foot stands: the rail is where the leg says.

    Nothing measures the hands that push what is on the rail at times; in hopper_data it hops.
    """
    log, folder = recordings.logged('hopper_teststand', part)
    model = TreeModel.from_urdf(
        folder.parent / 'teststand.urdf',
        base='fixed',
        overlay={'joints': {'?FE': {'rotor_inertia': 4.5e-6, 'gear_ratio': 9.0}}},
    )
    force = log.topics['/contact/force'].fields['force']
    torque, leg = (
        recordings.joints_of(log, field, model.joint_names[1:]) for field in ('effort', 'position')
    )
    return hopper_motion(model, log.time, leg, torque, force, cutoff)


def hopper_motion(model, time, leg, torque, force, cutoff=20.0, last=0):
    """Return the motion of the leg, or the last samples of it."""
    smooth, given = Filter(time, cutoff), leg
    leg, effort, ground = (smooth(rows)[-last:] for rows in (given, torque, force))
    s, still = np.hstack((np.zeros((len(leg), 1)), leg)), np.zeros((len(leg), 6))
    H = np.broadcast_to(np.eye(4), (len(leg), 4, 4))
    for k, x in enumerate(s):
        at = Kinematics(model, model.state(np.eye(4), x, np.zeros(6), np.zeros(model.n)))
        s[k, 0] = -at.pose('contact')[2, 3]
    r, efforts = smooth.rate(s), np.hstack((np.zeros((len(leg), 1)), effort))

    def until(now):
        known = time <= now
        rows = (x[known] for x in (time, given, torque, force))
        return hopper_motion(model, *rows, cutoff, last=TAIL)

    return Motion(
        *(model, smooth.time[-last:], H, s, still, r, smooth.rate(r), efforts.__getitem__, until),
        contacts=(Contact('contact'),),
        on_ground=ground[:, 2:] > 5.0,
        rail=1,
    )


# ---- predictions


def predicted(motion):
    """Return RMS errors of velocities (horizons, 5, parts).

    By constant velocity, by constant acceleration, by A and B, by the model, by A and B about
    measured accelerations; parts are joint rates, and of a floating base its turning and velocity.
    """
    model = motion.model
    linearizer = Linearizer(model, motion.contacts)
    period = motion.time[1] - motion.time[0]
    errors = []
    for k in motion.starts():
        if motion.on_ground is not None:
            linearizer.activate(names(motion.contacts, motion.on_ground[k]))
        ahead = np.arange(k, k + int(HORIZONS[-1] / period) + 3)
        efforts = np.array([motion.effort(j) for j in ahead])

        def effort(time, efforts=efforts):
            return np.array(
                [np.interp(time, np.arange(len(efforts)) * period, x) for x in efforts.T]
            )

        start = motion.state(k)
        by_forces = stepper(linearizer, start, efforts[0])
        measured = by_forces
        if motion.rail:
            measured = stepper(linearizer, start, efforts[0], motion.nu_dot[k])
        elif model.base == 'fixed':
            held = inverse_dynamics(model, start, motion.nu_dot[k])
            measured = stepper(linearizer, start, held)
        slopes = slopes_before(motion.until(motion.time[k]))
        x, now, row = start, 0.0, []
        for horizon in HORIZONS:
            more = effort(np.linspace(0.0, horizon, 9)).mean(axis=1) - efforts[0]
            while now < horizon - 1e-9:
                h = min(STEP, horizon - now)
                half = x.retract(0.5 * h * rate(linearizer, x, effort(now)))
                x, now = x.retract(h * rate(linearizer, half, effort(now + 0.5 * h))), now + h
            truth = motion_at(motion, k + horizon / period)
            steady = [steadily(motion, k, slope, horizon) for slope in slopes]
            guesses = start, *steady, by_forces(horizon, more), x, measured(horizon, more)
            row.append([parts(motion, truth, guess) for guess in guesses])
        errors.append(row)
    squares = np.ma.masked_invalid(np.square(errors))
    found = np.sqrt(squares.mean(axis=(0, -1)).filled(np.nan))
    best = found[:, 1 : 1 + len(PASTS)].min(axis=1, keepdims=True)
    return np.hstack((found[:, :1], best, found[:, 1 + len(PASTS) :]))


# ---- responses


class Responses(NamedTuple):
    """Of joint rates to changes of effort."""

    errors: np.ndarray
    """(horizons, 2 + 2 motions) RMS [rad/s]: of constant acceleration, of black boxes, and for
    each motion of A, B and of A, B about the acceleration before."""
    correlation: float
    slope: float
    """Of what constant accelerations miss over what the last of the motions has beyond them, at
    the longest horizon; each joint in units of what is missed in it."""


def efforts_of(motion):
    """Return the efforts (N, n)."""
    return np.array([motion.effort(k) for k in range(motion.time.size)])


def changes(motion, effort):
    """Return the samples before the largest changes of effort."""
    period = motion.time[1] - motion.time[0]
    free, u = motion.free(), (effort / np.maximum(effort.std(axis=0), 1e-12))[:, motion.rail :]
    size = np.linalg.norm(u[free + round(CHANGE / period)] - u[free], axis=1)
    found = []
    for k in free[np.argsort(-size)]:
        if all(abs(k - other) * period >= APART for other in found):
            found.append(k)
    return found[:POINTS]


def black_boxes(motion, effort):
    """Return functions that predict joint rates, ARX models of `ORDERS` [Ljung 1999].

    They take the last rates, every `PERIOD`, newest first, and efforts (steps + order - 1, n).
    """
    step = max(round(PERIOD / (motion.time[1] - motion.time[0])), 1)
    k, r, u = motion.free(), motion.r[:, motion.rail :], effort[:, motion.rail :]

    def black_box(order):
        back = step * np.arange(order)
        X = np.hstack([r[k - b] for b in back] + [u[k + step - b] for b in back])
        X = np.hstack((X, np.ones((k.size, 1))))
        size = np.abs(X).max(axis=0)
        weights = np.linalg.lstsq(X / size, r[k + step], rcond=1e-8)[0] / size[:, np.newaxis]

        def predict(rates, efforts):
            found = list(rates[:order])
            for j in range(len(efforts) - order + 1):
                x = [*found[:order], *efforts[j : j + order][::-1], np.ones(1)]
                found.insert(0, np.concatenate(x) @ weights)
            return np.array(found[: len(efforts) - order + 2])[::-1]

        return order, predict

    return [black_box(order) for order in ORDERS]


def responded(motions, trained):
    """Return the `Responses` of motions of one recording that differ in the model alone.

    By what was measured until then and the efforts from then on; black boxes are of a motion
    ``trained``.
    """
    first = motions[0]
    period, rail = first.time[1] - first.time[0], first.rail
    step = max(round(PERIOD / period), 1)
    efforts, boxes = efforts_of(first), black_boxes(trained, efforts_of(trained))
    linearizers = [Linearizer(motion.model, motion.contacts) for motion in motions]
    steps = np.arange(int(HORIZONS[-1] / (step * period)) + 2)
    times, wanted = steps * step * period, []
    for k in changes(first, efforts):
        past = first.until(first.time[k])
        slopes, start = slopes_before(past), first.r[k]
        lags = [past.r[-1 - j * step] - past.r[-1] + start for j in range(max(ORDERS))]
        by_boxes = [
            box(
                [r[rail:] for r in lags],
                efforts[k + step * np.arange(2 - order, steps.size), rail:],
            )
            for order, box in boxes
        ]
        by_linear = [
            reactions(*pair, k, slopes) for pair in zip(motions, linearizers, strict=True)
        ]
        for horizon in HORIZONS:
            guesses = [(start + horizon * slope[6:])[rail:] for slope in slopes]
            guesses += [[np.interp(horizon, times, x) for x in rows.T] for rows in by_boxes]
            guesses += [r[rail:] for react in by_linear for r in react(horizon)]
            wanted.append(np.array(guesses) - motion_at(first, k + horizon / period).r[rail:])
    off = np.reshape(wanted, (-1, len(HORIZONS), *np.shape(wanted[0])))
    rms = np.sqrt(np.mean(off**2, axis=(0, -1)))
    groups = [len(PASTS), len(ORDERS), *(1, len(PASTS)) * len(motions)]
    parts = np.split(rms, np.cumsum(groups)[:-1], axis=1)
    best = parts[0][-1].argmin()
    missed = -off[:, -1, best]
    response = off[:, -1, best - len(PASTS)] + missed
    unit = np.sqrt(np.mean(missed**2, axis=0))
    x, y = (response / unit).ravel(), (missed / unit).ravel()
    errors = np.stack([part.min(axis=1) for part in parts], axis=1)
    return Responses(errors, float(np.corrcoef(x, y)[0, 1]), float(x @ y / (x @ x)))


def reactions(motion, linearizer, k, slopes):
    """Return what predicts rates after a time: by A, B, and by A, B about each of the slopes."""
    period = motion.time[1] - motion.time[0]
    if motion.on_ground is not None:
        linearizer.activate(names(motion.contacts, motion.on_ground[k]))
    state, tau = motion.state(k), motion.effort(k)
    predictors = [stepper(linearizer, state, tau)]
    for slope in slopes:
        if motion.rail:
            predictors.append(stepper(linearizer, state, tau, slope[6:]))
        else:
            held = inverse_dynamics(motion.model, state, slope[6:])
            predictors.append(stepper(linearizer, state, held))
    ahead = np.array([motion.effort(j) for j in range(k, k + int(HORIZONS[-1] / period) + 3)])

    def react(horizon):
        at = np.linspace(0.0, horizon / period, 9)
        more = [np.interp(at, np.arange(len(ahead)), x).mean() for x in ahead.T] - ahead[0]
        return [predict(horizon, more).r for predict in predictors]

    return react


def slopes_before(motion):
    """Return slopes (6 + n,) of the rates at the end of a motion, over each of `PASTS`."""
    rates, period = np.hstack((motion.v, motion.r)), motion.time[1] - motion.time[0]
    found = []
    for past in PASTS:
        rows = rates[-(max(round(past / period), 2) + 1) :]
        centred = (np.arange(len(rows)) - 0.5 * (len(rows) - 1)) * period
        found.append(centred @ rows / (centred @ centred))
    return found


def steadily(motion, k, slope, horizon):
    """Return the state whose rates go on from a sample with a slope; the pose stays."""
    v, r = motion.v[k] + horizon * slope[:6], motion.r[k] + horizon * slope[6:]
    return motion.model.state(motion.H[k], motion.s[k], v, r)


def motion_at(motion, index):
    """Return the state between two samples."""
    k, share = int(index), index - int(index)
    first = motion.state(k)
    return first if share < 1e-9 else first.retract(share * own(motion, first, k + 1))


def own(motion, first, k):
    """Return the difference of a state to that of a sample, in the coordinates of the model."""
    z, n = first.difference(motion.state(k)), motion.model.n
    return z if motion.model.base == 'floating' else np.r_[z[6 : 6 + n], z[12 + n :]]


def stepper(linearizer, state, tau, nu_dot=None):
    """Return what predicts states by A, B and drift about one: of a time and of more effort.

    Accelerations that are given take the place of those in the drift.
    """
    L = linearizer(state, tau).frozen()
    A, B, drift = L.A.copy(), L.B.copy(), L.drift.copy()
    if nu_dot is not None:
        drift[-len(nu_dot) :] = nu_dot

    def predict(horizon, more):
        step = np.zeros((len(A) + 1,) * 2)
        step[:-1, :-1], step[:-1, -1] = A * horizon, (drift + B @ more) * horizon
        return state.retract(expm(step)[:-1, -1])

    return predict


def rate(linearizer, state, tau):
    """Return how a state moves."""
    nu_dot = linearizer.forward_dynamics(state, tau)
    return np.concatenate((*((state.v,) if nu_dot.size > state.r.size else ()), state.r, nu_dot))


def parts(motion, truth, guess):
    """Return errors of joint rates, and of the turning and velocity of the base; NaN: fewer."""
    found = np.full((3, max(truth.r.size, 3)), np.nan)
    off = guess.r - truth.r
    found[0, : off.size - motion.rail] = off[motion.rail :]
    found[2, : motion.rail] = off[: motion.rail]
    if motion.model.base == 'floating':
        found[1, :3], found[2, :3] = (guess.v - truth.v)[3:], (guess.v - truth.v)[:3]
    return found


PARTS = ('joints [rad/s]', 'base [rad/s]', 'base [m/s]')
FLOATING = {'hopper_teststand': hopper, 'icub_walking': icub, 'go1_serow': go1}
HEAD = (
    *('recording', 'error of', 'constant velocity', 'constant acceleration', 'A, B'),
    *('model', 'A, B, measured', 'A, B identified', 'model identified'),
    'A, B identified, measured',
)


@cache
def tried(name):
    """Return the motions of an arm as described and as identified, and that trained on."""
    arm = ARMS[name]()
    found = identify(arm.model, [arm.train], [arm.tried])
    overlay = overlay_of(found, urdf.read(arm.urdf))
    identified = arms.read(arm.urdf, joints=arm.model.joint_names, overlay=overlay)
    motions = [arm_motion(model, arm.tried) for model in (arm.model, identified)]
    return motions, arm_motion(arm.model, arm.train)


HOPS = 'hopper_data', 30.0


def of_responses():
    """Yield rows of the table of `Responses`."""
    yield LEG, responded([hopper(*HOPS)], hopper(cutoff=HOPS[1]))
    for name in TRIED:
        yield name, responded(*tried(name))


def results():
    """Yield recording, part, and errors (3 horizons, 8); NaN where there are none."""
    for name in TRIED:
        before, after = map(predicted, tried(name)[0])
        yield name, PARTS[0], np.hstack((before[:, :, 0], after[:, 2:, 0]))
    for name, load in FLOATING.items():
        motion = load()
        found = predicted(motion)
        for p, part in enumerate(PARTS):
            if np.isnan(found[:, :, p]).all():
                continue
            cells = np.full((len(HORIZONS), len(HEAD) - 2), np.nan)
            kinds = 5 if motion.rail else 4
            cells[:, :kinds] = found[:, :kinds, p]
            yield name, part, cells


TEXT = """\
Root mean square errors of velocities predicted over 5, 20 and 50 ms, from 40 moments of each
recording. Constant acceleration: the slope over the 20 or 50 ms before, whichever is better, of
what was measured until then. A, B: published matrices and drift. Model: forward dynamics,
integrated along the efforts. *Measured*: about measured accelerations (`nu_dot: measured`; on the
leg in the drift alone). *Identified*: on other data. All other signals are filtered forwards and
backwards (20 Hz, icub_walking 8, go1_serow 15), so that initial values, and measured
accelerations, hold a little of the future. Arms and leg (hopper_teststand, its rail as base,
pushed by hands, unmeasured): measured efforts. Walking robots: efforts by inverse dynamics with
the feet on the ground, so that their rows check A, B and contacts, not masses; contacts by foot
sensors, on go1_serow two feet or more, its base by the state estimator, above 2 Hz by its
accelerometer."""


LEG = 'hopper_teststand, hops'
RESPONSE_HEAD = (
    *('recording', 'constant acceleration', 'black box', 'A, B', 'A, B, before'),
    *('A, B identified', 'A, B identified, before', 'correlation', 'slope'),
)

RESPONSE_TEXT = """\
Responses to changes of effort: the same errors of joint rates [rad/s], from the 40 moments before
the largest changes of effort within 20 ms. Black box: ARX of orders 1, 2 and 4 at 5 ms, whichever
is best, trained on the other part or run. *Before*: about the acceleration before the change (the
same slopes as constant acceleration), with the efforts from then on. Correlation and slope: of
what constant acceleration misses over 50 ms with the response that A and B add to it. Efforts of
the leg that hops change by its jumps (30 Hz, while its foot stands), those of arms by friction:
in 30 to 68 % of the moments that joint turns around, in 4 to 13 % of all."""


def main():
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--table', type=Path)
    options = parser.parse_args()
    if not FOLDER.is_dir():
        print(f'recordings of real robots are not in {FOLDER}')
        return 1
    rows = []
    for name, part, cells in results():
        shown = [
            '' if np.isnan(values).any() else ', '.join(f'{value:.2g}' for value in values)
            for values in cells.T
        ]
        rows.append((name, part, *shown))
        print(*rows[-1], sep=' | ', flush=True)
    responses = []
    for name, response in of_responses():
        shown = [', '.join(f'{value:.2g}' for value in values) for values in response.errors.T]
        shown += [''] * (len(RESPONSE_HEAD) - 3 - len(shown))
        responses.append((name, *shown, f'{response.correlation:.2f}', f'{response.slope:.2f}'))
        print(*responses[-1], sep=' | ', flush=True)
    if options.table:
        first, second = evidence.table(HEAD, rows), evidence.table(RESPONSE_HEAD, responses)
        options.table.write_text('\n'.join((TEXT, '', *first, '', RESPONSE_TEXT, '', *second, '')))
    return 0


if __name__ == '__main__':
    warnings.simplefilter('ignore', ModelWarning)
    sys.exit(main())
