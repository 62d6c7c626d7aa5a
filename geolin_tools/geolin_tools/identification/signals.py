# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Measured signals, checked, filtered without delay, differentiated, thinned."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from geolin_ros.errors import RecordingError
from geolin_ros.linearization.contacts.description import Contact
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array

ndimage = optional('scipy.ndimage', extra='estimation')
signal = optional('scipy.signal', extra='estimation')

ORDER = 4  # of the Butterworth filter, forwards and backwards
SHORTEST = 4.0
"""Least length of a recording [s]."""
FEWEST = 150
"""Least number of its samples."""
STILL = 0.02
"""A joint that stays within this [rad or m] does not move."""
CLEAR = 0.9
"""Correlation from which on rates and positions of a joint that hardly moves can be compared."""
DEGREES = 180.0 / np.pi
GAP = 0.25
"""A recording must not be silent for longer [s]."""
MOTION_POWER = 0.99
"""The cut-off frequency is `ABOVE` times that below which so much of the rates' power is."""
ABOVE = 10.0
SLOWEST, HIGHEST, FASTEST = 5.0, 20.0, 0.2
"""Bounds of the cut-off frequency [Hz], and the upper one as a part of the sampling rate."""
FINER = 4.0
"""Cut-off frequency of the rates that friction is computed of, by that of efforts."""
SHARPER = 2.0
"""The same of the motion that all other forces are computed of: products of what was filtered are
not what filtered products are."""
POINTS = 7
"""Derivatives are those of polynomials through so many samples. By two neighbours they would be
too small: by 1 % at a 25th of the sampling rate, by 17 % at a sixth."""
AROUND = 0.5
"""Forces of a contact last so many periods of the cut-off frequency before and after it."""
KEPT_RATE = 5.0
"""Samples kept, in cut-off frequencies."""


@dataclass(frozen=True)
class Signals:
    """What one recording measured.

    Attributes
    ----------
    name
        Of the recording, for messages.
    time : (N,)
        When it was measured [s], ascending.
    position : (N, n)
        Of the joints, in the order of the model [rad or m].
    rate, effort : (N, n) or None
        [rad/s or m/s, N m or N]. A column that is NaN throughout was not measured; rates that
        were not are the derivatives of positions.
    pose, twist : (N, 4, 4) and (N, 6), or None
        Of a floating base: its pose in the world [m], its twist in its own axes [m/s, rad/s].
    forces
        Measured wrenches by link, (N, 6) [force; moment] of the surroundings on it, about the
        origin of the world in world axes [N, N m]; where nothing is given nothing touches it.
    contacts
        Where it stands on the ground by forces that are not measured.
    holds : (N, contacts)
        Which of them hold.
    """

    name: str
    time: Array
    position: Array
    rate: Array | None = None
    effort: Array | None = None
    pose: Array | None = None
    twist: Array | None = None
    forces: Mapping[str, Array] = field(default_factory=dict)
    contacts: tuple[Contact, ...] = ()
    holds: Array | None = None

    def between(self, begin: float, end: float) -> 'Signals':
        """Return the part from ``begin`` to ``end``, as parts of the length (0 to 1)."""
        first, length = self.time[0], self.time[-1] - self.time[0]
        part = (self.time >= first + begin * length) & (self.time <= first + end * length)
        return _rows(self, part)


@dataclass(frozen=True)
class Track:
    """How a robot moved: evenly sampled, smooth.

    Attributes
    ----------
    time : (N,)
        [s]
    position, rate, acceleration, effort : (N, n)
        Of the joints; efforts are NaN where none were measured.
    pose, twist, twist_dot
        (N, 4, 4), (N, 6), (N, 6) of a floating base; None of a fixed one.
    forces, contacts, holds
        As of `Signals`; contacts hold where they do within the length of the filter.
    """

    time: Array
    position: Array
    rate: Array
    acceleration: Array
    effort: Array
    pose: Array | None
    twist: Array | None
    twist_dot: Array | None
    forces: Mapping[str, Array]
    contacts: tuple[Contact, ...]
    holds: Array | None

    def of_rate(self, joint: int, function: Callable[[Array], Array]) -> Array:
        """Return a function (N,) of a joint's rate."""
        return function(self.rate[:, joint])


Rows = TypeVar('Rows', Signals, Track)


def _rows(of: Rows, kept: slice | Array) -> Rows:
    arrays: dict[str, Any] = {k: v[kept] for k, v in vars(of).items() if isinstance(v, np.ndarray)}
    forces = {link: values[kept] for link, values in of.forces.items()}
    return replace(of, **arrays, forces=forces)


class Grid(NamedTuple):
    """Even samples that a filter brings to those of a motion; None: they are."""

    sections: Array | None
    kept: slice = slice(None)

    def smooth(self, values: Array) -> Array:
        """Return the samples (N, ...) of values (M, ...), filtered as efforts are."""
        if self.sections is None:
            return values
        return np.asarray(signal.sosfiltfilt(self.sections, values, axis=0)[self.kept])


@dataclass(frozen=True)
class Motion(Track):
    """A recording ready to be fitted.

    Attributes
    ----------
    name
        Of the recording.
    cutoff
        Of the filter [Hz].
    all_rates : (M, n)
        Rates at all even times, filtered less; `smooth` filters and thins what they lead to.
    sharp
        The same motion, filtered less and sampled more often, whose forces `sharp_grid` filters.
    """

    name: str
    cutoff: float
    all_rates: Array
    sharp: Track
    sharp_grid: Grid
    _grid: Grid

    def smooth(self, values: Array) -> Array:
        """Return the samples (N, ...) of values (M, ...), filtered as all else was."""
        return self._grid.smooth(values)

    def of_rate(self, joint: int, function: Callable[[Array], Array]) -> Array:
        """Return a function (N,) of a joint's rate, filtered after it was computed.

        Friction changes faster than the filter lets through.
        """
        return self.smooth(function(self.all_rates[:, joint]))


def check(signals: Signals, model: TreeModel) -> None:
    """Raise `RecordingError` for what no model can be identified from."""
    name, time = signals.name, signals.time
    for what, values, width in (
        ('positions', signals.position, model.n),
        ('rates', signals.rate, model.n),
        ('efforts', signals.effort, model.n),
        ('base twists', signals.twist, 6),
    ):
        if values is not None and values.shape != (time.size, width):
            raise RecordingError(
                f'{name}: {what} have shape {values.shape}, expected {(time.size, width)}: '
                f'{time.size} samples of {width}'
            )
    steps = np.diff(time)
    if steps.size and steps.min() <= 0.0:
        k = int(steps.argmin())
        raise RecordingError(
            f'{name}: time goes from {time[k]:.6f} s to {time[k + 1]:.6f} s at sample {k + 1}, '
            'expected it to rise; sort the samples and leave out copies'
        )
    if time.size < FEWEST or time[-1] - time[0] < SHORTEST:
        length = time[-1] - time[0] if time.size else 0.0
        raise RecordingError(
            f'{name} has {time.size} samples in {length:.3g} s, expected at least {FEWEST} in '
            f'{SHORTEST:g} s; record longer'
        )
    for c in np.flatnonzero(np.isnan(signals.position).all(axis=0)):
        joint = model.joint_names[c]
        raise RecordingError(
            f'{name}: joint {joint!r} has position nan throughout, expected numbers; lock it '
            f'where it was: -p "locked_joints:=[\'{joint}=0.0\']"'
        )
    for what, values in (
        ('time', time),
        ('position', signals.position),
        ('rate', _measured(signals.rate)),
        ('effort', _measured(signals.effort)),
        ('base pose', signals.pose),
        ('base twist', signals.twist),
        *((f'force on {frame}', values) for frame, values in signals.forces.items()),
    ):
        if values is None or np.isfinite(values).all():
            continue
        wrong = np.argwhere(~np.isfinite(values))[0]
        of_joint = what in ('position', 'rate', 'effort')
        joint = f' of joint {model.joint_names[wrong[1]]!r}' if of_joint else ''
        count = int((~np.isfinite(values)).sum())
        raise RecordingError(
            f'{name}: {what}{joint} is {values[tuple(wrong)]} at sample {wrong[0]} ({count} such '
            'values), expected finite numbers; leave these samples out'
        )
    if steps.max() > GAP:
        k = int(steps.argmax())
        raise RecordingError(
            f'{name} is silent for {steps[k]:.3g} s after {time[k] - time[0]:.3f} s, expected no '
            f'gap above {GAP:g} s; cut it in two recordings there'
        )
    _check_motion(signals, model)


def _check_motion(signals: Signals, model: TreeModel) -> None:
    moved = np.ptp(signals.position, axis=0)
    if not (moved > STILL).any() and signals.twist is None:
        raise RecordingError(
            f'{signals.name}: no joint moves more than {moved.max(initial=0.0):.2g} rad or m, '
            f'expected motion above {STILL:g}; record a motion that excites all joints'
        )
    if signals.rate is None:
        return
    slope, alike = rate_slopes(signals)
    tells = (moved > 5.0 * STILL) | ((moved > STILL) & (np.abs(alike) > CLEAR))
    tells &= ~np.isnan(signals.rate).all(axis=0)
    for c in np.flatnonzero(tells & ~((slope > 0.7) & (slope < 1.4))):
        factor, unit = float(slope[c]), ''
        for power, of_rates, of_positions in ((-1, 'rad', 'degrees'), (1, 'degrees', 'rad')):
            if abs(np.log(abs(factor) / DEGREES**power)) < 0.35:
                unit = f' as if rates were in {of_rates}/s and positions in {of_positions}'
        raise RecordingError(
            f'{signals.name}: rates of joint {model.joint_names[c]!r} are {factor:.3g} times the '
            f'derivative of its positions, expected 1{unit}; correct their units, order or times'
        )


def rate_slopes(signals: Signals) -> tuple[Array, Array]:
    """Return, for each joint, the rates by the derivative of positions, and their correlation.

    NaN where it is still. Both are averaged over about 0.1 s: noise of positions would make it
    too small.
    """
    assert signals.rate is not None
    time = signals.time
    step = max(1, int(0.1 / float(np.median(np.diff(time)))))
    means = 0.5 * (signals.rate[1:] + signals.rate[:-1])
    moves = means * np.diff(time)[:, np.newaxis]
    travelled = np.concatenate((np.zeros((1, moves.shape[1])), np.cumsum(moves, axis=0)))
    by_rate = travelled[step:] - travelled[:-step]
    by_position = signals.position[step:] - signals.position[:-step]
    product = (by_rate * by_position).sum(axis=0)
    square, other = (by_position**2).sum(axis=0), (by_rate**2).sum(axis=0)
    with np.errstate(divide='ignore', invalid='ignore'):
        return product / square, product / np.sqrt(square * other)


def _measured(values: Array | None) -> Array | None:
    """Return values whose columns that are NaN throughout are 0."""
    return None if values is None else np.where(np.isnan(values).all(axis=0), 0.0, values)


def cutoff_of(signals: Signals) -> float:
    """Return a cut-off frequency [Hz] well above what the joints do."""
    fastest = FASTEST / float(np.median(np.diff(signals.time)))
    return float(np.clip(_wanted_cutoff(signals), SLOWEST, min(HIGHEST, fastest)))


def needed_rate(signals: Signals) -> float:
    """Return how many samples a second [Hz] leave `cutoff_of` above all that the joints do."""
    return float(np.clip(_wanted_cutoff(signals), SLOWEST, HIGHEST)) / FASTEST


def _wanted_cutoff(signals: Signals) -> float:
    period = float(np.median(np.diff(signals.time)))
    even = _even(signals)
    rate = np.gradient(_resampled(signals.time, signals.position, even), period, axis=0)
    if signals.rate is not None:
        given = _resampled(signals.time, signals.rate, even)
        rate = np.where(np.isnan(given), rate, given)
    spectrum = np.abs(np.fft.rfft(rate - rate.mean(axis=0), axis=0)) ** 2
    share = np.cumsum(spectrum.sum(axis=1))
    if share[-1] <= 0.0:
        return SLOWEST
    k = int(np.searchsorted(share, MOTION_POWER * share[-1]))
    return ABOVE * float(np.fft.rfftfreq(even.size, period)[k])


def prepare(
    signals: Signals,
    model: TreeModel,
    cutoff: float | None = None,
    delay: float = 0.0,
) -> Motion:
    """Return the motion of a recording: filtered forwards and backwards, differentiated, thinned.

    Positions, rates and efforts pass the same filter, so that what it takes away is missing on
    both sides of the equations of motion.

    Parameters
    ----------
    signals, model
        What was measured, in the order of the model, and passed `check`.
    cutoff
        Of the filter [Hz]; by default by `cutoff_of`.
    delay
        By how much efforts come after the motion they belong to [s]; it is taken out.

    Raises
    ------
    RecordingError
        If the cut-off frequency is beyond what the recording holds.
    """
    cutoff = cutoff_of(signals) if cutoff is None else cutoff
    time = signals.time
    period = float(np.median(np.diff(time)))
    if not 0.0 < cutoff < 0.5 / period:
        raise RecordingError(
            f'{signals.name}: cut-off frequency is {cutoff:g} Hz, expected more than 0 and less '
            f'than half of the sampling rate, {0.5 / period:.4g} Hz'
        )
    even = _even(signals)
    sections = _filter(cutoff, period)
    can_be_sharper = signals.rate is not None and SHARPER * cutoff < 0.45 / period
    sharper = SHARPER * cutoff if can_be_sharper else cutoff
    fine = track = _track(signals, even, sections, delay, cutoff)
    if can_be_sharper:
        fine = _track(signals, even, _filter(sharper, period), delay, sharper)
    all_rates = track.rate
    if signals.rate is not None and FINER * cutoff < 0.45 / period:
        all_rates = _smooth_motion(signals, even, _filter(FINER * cutoff, period))[1]
    step = max(1, int(1.0 / (KEPT_RATE * sharper * period)))
    # between the edges, where the filter has no neighbours on one side
    edge = -(-round(2.0 / cutoff / period) // step)
    every = max(1, int(1.0 / (KEPT_RATE * cutoff * period)) // step)
    count = -(-even.size // step)
    kept = slice(edge * step, (count - edge) * step, every * step)
    if can_be_sharper:
        grid = Grid(_filter(cutoff, step * period), slice(edge, count - edge, every))
        sharp = _rows(fine, slice(None, None, step))
    else:  # filtered already
        grid, sharp = Grid(None), _rows(track, kept)
    return Motion(
        **vars(_rows(track, kept)),
        name=signals.name,
        cutoff=cutoff,
        all_rates=all_rates,
        sharp=sharp,
        sharp_grid=grid,
        _grid=Grid(sections, kept),
    )


def _filter(cutoff: float, period: float) -> Array:
    return np.asarray(signal.butter(ORDER, cutoff, output='sos', fs=1.0 / period))


def _smoothed(
    signals: Signals, values: Array, even: Array, sections: Array, late: float = 0.0
) -> Array:
    """Return values (N, k) at even times, filtered forwards and backwards."""
    resampled = _resampled(signals.time - late, values, even)
    return np.asarray(signal.sosfiltfilt(sections, resampled, axis=0))


def _track(signals: Signals, even: Array, sections: Array, delay: float, cutoff: float) -> Track:
    """Return the motion at even times."""

    def smooth(values: Array) -> Array:
        return _smoothed(signals, values, even, sections)

    position, rate = _smooth_motion(signals, even, sections)
    pose = twist = twist_dot = None
    if signals.pose is not None and signals.twist is not None:
        pose = _smooth_poses(smooth(signals.pose.reshape(len(signals.time), 16)))
        twist = smooth(signals.twist)
        twist_dot = _rate_of(twist, even)
    forces = {frame: smooth(values) for frame, values in signals.forces.items()}
    effort = np.full_like(position, np.nan)
    if signals.effort is not None:
        measured = ~np.isnan(signals.effort).all(axis=0)
        given = signals.effort[:, measured]
        effort[:, measured] = _smoothed(signals, given, even, sections, delay)
    holds = None
    if signals.holds is not None:
        lasting = 1 + 2 * round(AROUND / cutoff / float(even[1] - even[0]))
        held = _resampled(signals.time, signals.holds.astype(float), even)
        holds = ndimage.maximum_filter1d(held, lasting, axis=0) > 0.0
    acceleration = _rate_of(rate, even)
    return Track(
        *(even, position, rate, acceleration, effort, pose, twist, twist_dot, forces),
        *(signals.contacts, holds),
    )


def _smooth_motion(signals: Signals, even: Array, sections: Array) -> tuple[Array, Array]:
    """Return positions and rates (N, n) at even times; rates not measured are derivatives."""
    position = _smoothed(signals, signals.position, even, sections)
    rate = _rate_of(position, even)
    if signals.rate is not None:
        given = ~np.isnan(signals.rate).all(axis=0)
        rate[:, given] = _smoothed(signals, signals.rate[:, given], even, sections)
    return position, rate


def _rate_of(values: Array, even: Array) -> Array:
    return np.asarray(
        signal.savgol_filter(
            values, POINTS, POINTS - 1, deriv=1, delta=float(even[1] - even[0]), axis=0
        )
    )


def delayed_efforts(signals: Signals, motion: Motion, delay: float) -> Array:
    """Return the efforts (N, n) of a motion if they come so much after it [s]."""
    assert signals.effort is not None
    return motion.smooth(_resampled(signals.time - delay, signals.effort, _even(signals)))


def _even(signals: Signals) -> Array:
    """Return times (M,) [s] that are the median of the period apart."""
    time = signals.time
    return np.arange(time[0], time[-1], float(np.median(np.diff(time))))


def _resampled(time: Array, values: Array, at: Array) -> Array:
    columns = [np.interp(at, time, column) for column in values.T]
    return np.reshape(columns, (len(columns), len(at))).T


def _smooth_poses(flat: Array) -> Array:
    """Return poses (N, 4, 4) whose rotations, smoothed entry by entry, are made rotations."""
    poses = flat.reshape(-1, 4, 4).copy()
    left, _, right = np.linalg.svd(poses[:, :3, :3])
    poses[:, :3, :3] = left @ right
    poses[:, 3] = (0.0, 0.0, 0.0, 1.0)
    return poses
