# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot on a floor, stepped by MuJoCo, in the coordinates of its `TreeModel`.

Its sensors, pushes, and a run under a control law with what came of it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from geolin_demos.sim.world import FLOOR, Floor, balls, body_name, compile_world
from geolin_ros import mjcf
from geolin_ros.control.soles import read_feet
from geolin_ros.control.support import Support
from geolin_ros.dynamics.arguments import vector
from geolin_ros.dynamics.kinematics import Kinematics, check_state
from geolin_ros.errors import ConfigurationError, NotFiniteError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.typing import Array
from geolin_ros.urdf import read as read_urdf


class Sensors:
    """Turns true states into measured ones, one call a sample, by ``delay`` samples late.

    White noise of the base velocity with that standard deviation [m/s], of the angular velocity
    twice as large. Raises `ConfigurationError` if the delay or the noise is negative.
    """

    def __init__(self, noise: float = 0.0, delay: int = 0, seed: int = 0) -> None:
        if delay < 0 or not noise >= 0.0:
            raise ConfigurationError(
                f'sensors have noise {noise} m/s and a delay of {delay} samples, expected 0 or '
                'more of each'
            )
        self._deviations = noise * np.repeat((1.0, 2.0), 3)
        self._past: deque[State] = deque(maxlen=delay + 1)
        self._rng = np.random.default_rng(seed)

    def __call__(self, state: State) -> State:
        """Return what is measured now."""
        self._past.append(state)
        measured = self._past[0].copy()
        measured.v += self._deviations * self._rng.standard_normal(6)
        return measured


@dataclass(frozen=True)
class Imu:
    """A cheap IMU: densities of white noise, deviations of what it is off all the time [SI]."""

    gyro: float = 1e-3
    accelerometer: float = 1e-2
    gyro_bias: float = 0.01
    accelerometer_bias: float = 0.1


class ImuSensor:
    """An IMU on the base, which integrates between two states; gravity (3,) in m/s^2."""

    def __init__(self, gravity: Array, imu: Imu | None = None, seed: int = 0) -> None:
        imu, self._rng, self._gravity = imu or Imu(), np.random.default_rng(seed), gravity
        self._density = np.repeat((imu.gyro, imu.accelerometer), 3)
        bias = np.repeat((imu.gyro_bias, imu.accelerometer_bias), 3)
        self._bias = bias * self._rng.standard_normal(6)
        self._last: tuple[float, State] | None = None

    def forget(self) -> None:
        """Begin anew: the robot was put elsewhere."""
        self._last = None

    def __call__(self, time: float, state: State) -> Array | None:
        """Return a sample (6,) = [gyro; accelerometer] of the means since the last call."""
        before, self._last = self._last, (time, state)
        if before is None:
            return None
        step, last = time - before[0], before[1]
        turned = se3.log(se3.relative(last.H, state.H))[3:]
        velocities = [at.H[:3, :3] @ at.v[:3] for at in (last, state)]
        mean = (velocities[1] - velocities[0]) / step - self._gravity
        half = last.H @ se3.exp(np.concatenate((np.zeros(3), 0.5 * turned)))
        exact = np.concatenate((turned / step, half[:3, :3].T @ mean))
        noise = self._density / np.sqrt(step) * self._rng.standard_normal(6)
        return np.asarray(exact + self._bias + noise)


@dataclass(frozen=True)
class Push:
    """A force [N] in world axes on the root body's centre of mass, from ``start`` on [s].

    It lasts for ``duration`` [s], and comes back ``every`` so many seconds.
    """

    start: float
    force: tuple[float, float, float]
    duration: float = 0.1
    every: float = np.inf

    def acts(self, time: float) -> bool:
        """Whether it is there at a time [s], rounding of time steps allowed for."""
        elapsed = time - self.start + 1e-9
        return elapsed >= 0.0 and elapsed % self.every < self.duration


class Simulator:
    """A robot on a floor.

    MuJoCo's free joint holds the velocity of the base origin in world axes and the angular
    velocity in base axes; the state's v = (u; w) is the body twist in base axes.

    Raises `ModelError` if the robot cannot be simulated, see `world.compile_world`;
    `UnknownNameError` if a foot is no link; `ConfigurationError` if the floor's friction is
    negative or its time step not positive, or the shapes of a foot do not tell what it is.

    Parameters
    ----------
    urdf
        Path or text of the URDF or MJCF that ``model`` was read from: dry friction of joints and
        shapes of feet are its.
    feet
        The frames that may touch the floor, nothing else collides: a `Support`, or the name of a
        link, whose shapes then make one, see `control.soles`. As an attribute by frame.
    pushes
        Forces to come, in any order; those that are over stay.

    Attributes
    ----------
    notes
        What was assumed about the feet and repaired of the inertias, a sentence each.

    Examples
    --------
    >>> from geolin_ros import TreeModel, robots
    >>> path = robots.path('quadruped')
    >>> feet = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]
    >>> simulator = Simulator(path, TreeModel.from_urdf(path), feet)
    >>> simulator.feet['FL_foot'].radius
    0.02
    """

    def __init__(
        self,
        urdf: str | Path,
        model: TreeModel,
        feet: Sequence[str | Support],
        floor: Floor | None = None,
        pushes: Iterable[Push] = (),
    ) -> None:
        floor = floor or Floor()
        if not (floor.friction >= 0.0 and floor.timestep > 0.0):
            raise ConfigurationError(
                f'{floor} cannot be simulated, expected a friction of 0 or more and a time step '
                'of more than 0 s'
            )
        self.model, self.floor, self.pushes = model, floor, list(pushes)
        found = read_feet(urdf, model, feet)
        self.feet = {foot.support.frame: foot.support for foot in found}
        description = mjcf.read(urdf).description if mjcf.is_mjcf(urdf) else read_urdf(urdf)
        friction = {joint.name: joint.friction for joint in description.joints}
        self.mujoco_model, notes = compile_world(model, list(self.feet.values()), floor, friction)
        self.notes = [*(foot.assumed for foot in found if foot.assumed), *notes]
        self.data = mujoco.MjData(self.mujoco_model)
        joints = [self.mujoco_model.joint(name) for name in model.coordinate_names]
        self._q_of = np.array([int(joint.qposadr[0]) for joint in joints], dtype=np.int64)
        self._v_of = np.array([int(joint.dofadr[0]) for joint in joints], dtype=np.int64)
        self._q, self._v = (at[model.own_coordinate] for at in (self._q_of, self._v_of))
        self._bodies = [self.mujoco_model.body(body_name(frame)).id for frame in self.feet]
        self._limit = model.limits.effort[model.actuated]

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.data.time)

    @property
    def state(self) -> State:
        """The state now, exact; `Sensors` blurs it."""
        data, H = self.data, np.eye(4)
        H[:3, :3] = R = se3.rotation_from_quaternion(np.roll(data.qpos[3:7], -1))
        H[:3, 3] = data.qpos[:3]
        v = np.concatenate((R.T @ data.qvel[:3], data.qvel[3:6]))
        return State(H, data.qpos[self._q], v, data.qvel[self._v], self.model.positions)

    @state.setter
    def state(self, state: State) -> None:
        check_state(self.model, state)
        data, tree, R = self.data, self.model.tree, state.H[:3, :3]
        data.qpos[:3] = state.H[:3, 3]
        data.qpos[3:7] = np.roll(se3.quaternion_from_rotation(R), 1)
        data.qvel[:3], data.qvel[3:6] = R @ state.v[:3], state.v[3:]
        own = tree.position_multiplier * state.s[tree.position_master] + tree.offset
        data.qpos[self._q_of], data.qvel[self._v_of] = own, tree.multiplier * state.r[tree.master]
        data.qacc_warmstart[:] = 0.0
        mujoco.mj_forward(self.mujoco_model, data)

    @property
    def efforts(self) -> Array:
        """What the motors give now (n,), zeros at joints without [N m or N]."""
        return np.array(self.data.qfrc_applied[self._v])

    def reset(self, state: State) -> None:
        """Put the robot somewhere at time zero, as if nothing had happened before."""
        mujoco.mj_resetData(self.mujoco_model, self.data)
        self.state = state

    def clearance(self, state: State) -> float:
        """Return how far the lowest foot is above the floor at a state [m]."""
        at = Kinematics(self.model, state)
        heights = []
        for frame, support in self.feet.items():
            (centres, radius), H = balls(support), at.pose(frame)
            heights.append(np.min(centres @ H[2, :3]) + H[2, 3] - radius)
        return float(min(heights))

    def rise(self, state: State) -> float:
        """Return how high the floor's slope is below the highest foot [m]."""
        at = Kinematics(self.model, state)
        return float(max(np.tan(self.floor.slope) * at.pose(frame)[0, 3] for frame in self.feet))

    def advance(self, tau: ArrayLike, duration: float) -> Array:
        """Hold joint efforts for a while; return them as the motors gave them.

        ``tau`` (n_u,) are those of the actuated joints [N m or N], cut at the URDF's limits; the
        duration [s] is rounded to time steps. Raises `ShapeError` if tau has another size;
        `NotFiniteError` if it holds NaN or inf.
        """
        wanted = vector('tau', tau, len(self._limit), self.model.name)
        if not np.isfinite(wanted).all():
            raise NotFiniteError(f'tau of robot {self.model.name!r} is {wanted.tolist()}')
        given = np.clip(wanted, -self._limit, self._limit)
        self.data.qfrc_applied[self._v[self.model.actuated]] = given
        for _ in range(round(duration / self.mujoco_model.opt.timestep)):
            self.data.xfrc_applied[1, :3] = self._push()
            mujoco.mj_step(self.mujoco_model, self.data)
        return given

    def _push(self) -> Array:
        forces = [push.force for push in self.pushes if push.acts(self.time)]
        return np.sum(forces, axis=0) if forces else np.zeros(3)

    def wrenches(self) -> dict[str, Array]:
        """Return for each foot what the floor did to it in the last step.

        Each (6,): force [N] and torque [N m] in axes of and about the origin of the foot frame.
        """
        model, data, contact = self.mujoco_model, self.data, self.data.contact
        local = np.zeros((data.ncon, 6))
        for index in range(data.ncon):
            mujoco.mj_contactForce(model, data, index, local[index])
        is_first = contact.geom1 == model.geom(FLOOR).id  # then MuJoCo's force is on the foot
        bodies = model.geom_bodyid[np.where(is_first, contact.geom2, contact.geom1)]
        sign = np.where(is_first, 1.0, -1.0)
        forces = np.einsum('c,cij,ci->cj', sign, contact.frame.reshape(-1, 3, 3), local[:, :3])
        moments = np.cross(contact.pos - data.xpos[bodies], forces)
        both = np.stack((forces, moments), axis=1)
        found = [both[bodies == body].sum(axis=0) @ data.xmat[body].reshape(3, 3)
                 for body in self._bodies]  # fmt: skip
        return {frame: wrench.ravel() for frame, wrench in zip(self.feet, found, strict=True)}


PERIOD = 0.002
"""Of the control loop [s]."""
GRAVITY = 9.81
SETTLED = 0.1
"""A push is over when the base is this near to where it comes to rest, of the largest distance."""
HEIGHT, TILT = 0.15, 0.6
"""By which the base of a robot that stands may be off at any time: of the reference's height, and
[rad]. Sliding feet, and a lifted foot put down, count as standing."""
SPEED = 0.1
"""By how much the velocity of the base may be off at the end [m/s]."""

Law = Callable[[float, State], Array]
"""Joint efforts (n_u,) for a time [s] and a measured state."""
Measure = Callable[[State], State]
"""What a law sees of a true state, one call a control period."""


def stands(state: State, reference: State) -> bool:
    """Return whether the base is near enough to where it should be."""
    height = reference.H[2, 3]
    cosine = float(state.H[:3, 2] @ reference.H[:3, 2])
    return bool(abs(state.H[2, 3] - height) <= HEIGHT * height and cosine >= np.cos(TILT))


class Recording:
    """Times [s], states and references of one run; when it stood no longer [s], or None."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.states: list[State] = []
        self.references: list[State] = []
        self.fallen: float | None = None

    def add(self, time: float, state: State, reference: State) -> bool:
        """Keep one sample; return whether the robot still stands."""
        self.times.append(time)
        self.states.append(state)
        self.references.append(reference)
        if self.fallen is None and not stands(state, reference):
            self.fallen = time
        return self.fallen is None

    @property
    def stands(self) -> bool:
        """Whether it never fell and moves like its reference at the end."""
        if self.fallen is not None or not self.states:
            return False
        lag = self.states[-1].v[:3] - self.references[-1].v[:3]
        return bool(np.linalg.norm(lag) <= SPEED)

    def errors(self) -> Array:
        """Return log(H_reference^-1 H) (k, 6) of the base, in axes of the reference [m, rad]."""
        pairs = zip(self.references, self.states, strict=True)
        return np.array([se3.log(se3.relative(wanted.H, is_.H)) for wanted, is_ in pairs])

    def distances(self) -> Array:
        """Return how far the base is from its reference (k,) [m]."""
        return np.asarray(np.linalg.norm(self.errors()[:, :3], axis=1))

    def peak_error(self) -> float:
        """Return the largest of the distances [m]."""
        return float(self.distances().max())

    def summary(self, pushes: Sequence[Push]) -> dict[str, Any]:
        """Return whether and when it fell [s], distances [m], the median settling time [s]."""
        away, settling = self.distances(), self.settling_times(pushes)
        return {
            'stands': self.stands,
            'fallen': self.fallen,
            'peak_error': float(away.max()),
            'drift': float(away[-1]),
            'settling': float(np.median(settling)) if settling.size else float('nan'),
        }

    def settling_times(self, pushes: Sequence[Push]) -> Array:
        """Return for each push how long after its end the base was on its way [s].

        Until its distance from where it comes to rest, before the next push, stays below `SETTLED`
        of the largest. There are none of a robot that fell.
        """
        if self.fallen is not None:
            return np.empty(0)
        times, errors = np.array(self.times), self.errors()[:, :3]
        found = []
        ends = [*(push.start for push in pushes[1:]), np.inf]
        for push, end in zip(pushes, ends, strict=True):
            window = np.flatnonzero((times >= push.start) & (times < end))
            if window.size:
                away = np.linalg.norm(errors[window] - errors[window[-1]], axis=1)
                moving = window[away > SETTLED * away.max(initial=0.0)]
                last = times[moving[-1]] if moving.size else push.start
                found.append(max(0.0, last - push.start - push.duration))
        return np.array(found)


def simulate(
    simulator: Simulator,
    law: Law,
    reference: Callable[[float], State],
    duration: float,
    *,
    period: float = PERIOD,
    sensors: Measure | None = None,
) -> Recording:
    """Put a robot on its reference, run a control law until the time is over or the robot falls.

    The reference is where it should be at a time [s], velocities included. Efforts are constant
    for a period [s]; sensors tell what the law sees of the state, by default all of it.
    """
    recording = Recording()
    simulator.reset(reference(0.0))
    for _ in range(round(duration / period)):
        time, state = simulator.time, simulator.state
        if not recording.add(time, state, reference(time)):
            break
        simulator.advance(law(time, state if sensors is None else sensors(state)), period)
    return recording


def push_of(impulse: float, angle: float, start: float, mass: float) -> Push:
    """Return a horizontal push of momentum m g J, with J = ``impulse`` [s].

    J of 0.05 s is half the weight for 0.1 s. The angle is from the x axis of the world [rad].
    """
    force = impulse * mass * GRAVITY / Push.duration
    return Push(start, (force * float(np.cos(angle)), force * float(np.sin(angle)), 0.0))


def random_pushes(
    impulse: float, mass: float, seed: int, count: int = 10, start: float = 1.0, every: float = 2.0
) -> list[Push]:
    """Return pushes of one impulse in random directions, one ``every`` so often [s]."""
    angles = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, count)
    return [push_of(impulse, angle, start + every * k, mass) for k, angle in enumerate(angles)]
