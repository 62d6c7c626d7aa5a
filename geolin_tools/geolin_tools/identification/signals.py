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

integrate = optional('scipy.integrate', extra='estimation')
ndimage = optional('scipy.ndimage', extra='estimation')
signal = optional('scipy.signal', extra='estimation')

ORDER = 4  # of the Butterworth filter, forwards and backwards
SHORTEST = 4.0  # least length of a recording [s]
FEWEST = 150  # least number of its samples
STILL = 0.02  # a joint that stays within this [rad or m] does not move
CLEAR = 0.9
"""Correlation from which on rates and positions of a joint that hardly moves can be compared."""
GAP = 0.25  # a recording must not be silent for longer [s]
MOTION_POWER = 0.99
"""The cut-off frequency is `ABOVE` times that below which so much of the rates' power is."""
ABOVE = 10.0
SLOWEST, HIGHEST, FASTEST = 5.0, 20.0, 0.2
"""Bounds of the cut-off frequency [Hz], and the upper one as a part of the sampling rate."""
FINER = 4.0  # cut-off frequency of the rates that friction is computed of, by that of efforts
SHARPER = 2.0
"""The same of the motion that all other forces are computed of: products of what was filtered are
not what filtered products are."""
POINTS = 7
"""Derivatives are those of polynomials through so many samples. By two neighbours they would be
too small: by 1 % at a 25th of the sampling rate, by 17 % at a sixth."""
AROUND = 0.5
"""Forces of a contact last so many periods of the cut-off frequency before and after it."""
KEPT_RATE = 5.0  # samples kept, in cut-off frequencies


@dataclass(frozen=True)
class Signals:
    """What one recording measured."""

    name: str
    """Of the recording, for messages."""
    time: Array
    """(N,) When it was measured [s], ascending."""
    position: Array
    """(N, n) Of the joints, in the order of the model [rad or m]."""
    rate: Array | None = None
    effort: Array | None = None
    """(N, n) [rad/s or m/s, N m or N]. A column that is NaN throughout was not measured; rates
    that were not are the derivatives of positions."""
    pose: Array | None = None
    twist: Array | None = None
    """(N, 4, 4) and (N, 6) of a floating base: its pose in the world [m], its twist in its own
    axes [m/s, rad/s]."""
    forces: Mapping[str, Array] = field(default_factory=dict)
    """Measured wrenches by link, (N, 6) [force; moment] of the surroundings on it, about the
    origin of the world in world axes [N, N m]; where nothing is given nothing touches it."""
    contacts: tuple[Contact, ...] = ()
    """Where it stands on the ground by forces that are not measured."""
    holds: Array | None = None
    """(N, contacts) Which of them hold."""

    def between(self, begin: float, end: float) -> 'Signals':
        """Return the part from ``begin`` to ``end``, as parts of the length (0 to 1)."""
        first, length = self.time[0], self.time[-1] - self.time[0]
        part = (self.time >= first + begin * length) & (self.time <= first + end * length)
        return _rows(self, part)


@dataclass(frozen=True, kw_only=True)
class Track(Signals):
    """How a robot moved: evenly sampled, smooth.

    Efforts are NaN where none were measured, and contacts hold where they do within the length of
    the filter.
    """

    rate: Array
    effort: Array
    acceleration: Array
    twist_dot: Array | None = None

    def of_rate(self, joint: int, function: Callable[[Array], Array]) -> Array:
        """Return a function (N,) of a joint's rate."""
        return function(self.rate[:, joint])


Rows = TypeVar('Rows', bound=Signals)


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


@dataclass(frozen=True, kw_only=True)
class Motion(Track):
    """A recording ready to be fitted."""

    cutoff: float
    """Of the filter [Hz]."""
    all_rates: Array
    """(M, n) Rates at all even times, filtered less; ``grid`` filters what they lead to."""
    sharp: Track
    """The same motion, filtered less and sampled more often: ``sharp_grid`` filters its forces."""
    sharp_grid: Grid
    grid: Grid

    def of_rate(self, joint: int, function: Callable[[Array], Array]) -> Array:
        """Return a function (N,) of a joint's rate, filtered after it was computed.

        Friction changes faster than the filter lets through.
        """
        return self.grid.smooth(function(self.all_rates[:, joint]))


def check(signals: Signals, model: TreeModel) -> None:
    """Raise `RecordingError` for what no model can be identified from."""
    name, time, joints = signals.name, signals.time, model.joint_names
    table: list[tuple[str, Array | None, tuple[str, ...]]] = [
        ('position', signals.position, joints),
        ('rate', signals.rate, joints),
        ('effort', signals.effort, joints),
        ('base twist', signals.twist, ('x', 'y', 'z', 'rx', 'ry', 'rz')),
    ]
    for what, values, columns in table:
        if values is not None and values.shape != (time.size, len(columns)):
            raise RecordingError(
                f'{name}: {what} has shape {values.shape}, expected {(time.size, len(columns))}: '
                f'{time.size} samples of {len(columns)}'
            )
    steps = np.diff(time)
    if steps.size and steps.min() <= 0.0:
        k = int(steps.argmin())
        raise RecordingError(
            f'{name}: time goes from {time[k]:.6f} s to {time[k + 1]:.6f} s at sample {k + 1}, '
            'expected it to rise; sort the samples and leave out copies'
        )
    length = time[-1] - time[0] if time.size else 0.0
    if time.size < FEWEST or length < SHORTEST:
        raise RecordingError(
            f'{name} has {time.size} samples in {length:.3g} s, expected at least {FEWEST} in '
            f'{SHORTEST:g} s; record longer'
        )
    table += [('time', time, ()), ('base pose', signals.pose, ())]
    table += [(f'force on {frame}', values, ()) for frame, values in signals.forces.items()]
    for what, values, columns in table:
        if values is None or np.isfinite(values).all():
            continue
        bad = ~np.isfinite(values)
        if what in ('rate', 'effort'):  # of a joint that nobody measured it is NaN throughout
            bad &= ~np.isnan(values).all(axis=0)
        for wrong in np.argwhere(bad)[:1]:
            of = f' of joint {columns[wrong[1]]!r}' if columns is joints else ''
            lock = ', or lock the joint: -p "locked_joints:=[\'NAME=0.0\']"'
            raise RecordingError(
                f'{name}: {what}{of} is {values[tuple(wrong)]} at sample {wrong[0]} ({bad.sum()} '
                'such values), expected finite numbers; leave these samples out'
                f'{lock if what == "position" else ""}'
            )
    if steps.max() > GAP:
        k = int(steps.argmax())
        raise RecordingError(
            f'{name} is silent for {steps[k]:.3g} s after {time[k] - time[0]:.3f} s, expected no '
            f'gap above {GAP:g} s; cut it in two recordings there'
        )
    moved = np.ptp(signals.position, axis=0)
    if not (moved > STILL).any() and signals.twist is None:
        raise RecordingError(
            f'{name}: no joint moves more than {moved.max(initial=0.0):.2g} rad or m, expected '
            f'motion above {STILL:g}; record a motion that excites all joints'
        )
    if signals.rate is not None:
        _check_rates(signals, moved, joints)


def _check_rates(signals: Signals, moved: Array, joints: tuple[str, ...]) -> None:
    """Raise where rates are not the derivative of positions of joints that move enough to tell."""
    # of changes over about 0.1 s: noise of positions would make the ratio too small
    step = max(1, int(0.1 / float(np.median(np.diff(signals.time)))))
    travelled = integrate.cumulative_trapezoid(signals.rate, signals.time, axis=0, initial=0.0)
    by_rate, by_position = (x[step:] - x[:-step] for x in (travelled, signals.position))
    product = (by_rate * by_position).sum(axis=0)
    square, other = (by_position**2).sum(axis=0), (by_rate**2).sum(axis=0)
    with np.errstate(divide='ignore', invalid='ignore'):
        slope, alike = product / square, product / np.sqrt(square * other)
    tells = (moved > 5.0 * STILL) | ((moved > STILL) & (np.abs(alike) > CLEAR))
    for c in np.flatnonzero(tells & ~np.isnan(slope) & ~((slope > 0.7) & (slope < 1.4))):
        raise RecordingError(
            f'{signals.name}: rates of joint {joints[c]!r} are {slope[c]:.3g} times the '
            'derivative of its positions, expected 1; correct their units (degrees are 57.3 times '
            'rad), order or times'
        )


def wanted_cutoff(signals: Signals) -> float:
    """Return a cut-off frequency [Hz] well above what the joints do."""
    period, even = even_times(signals)
    rate = np.gradient(resampled(signals.time, signals.position, even), period, axis=0)
    if signals.rate is not None:
        given = resampled(signals.time, signals.rate, even)
        rate = np.where(np.isnan(given), rate, given)
    spectrum = np.abs(np.fft.rfft(rate - rate.mean(axis=0), axis=0)) ** 2
    share = np.cumsum(spectrum.sum(axis=1))
    k = int(np.searchsorted(share, MOTION_POWER * share[-1]))
    return float(np.clip(ABOVE * k / (even.size * period), SLOWEST, HIGHEST))


def prepare(
    signals: Signals, model: TreeModel, cutoff: float | None = None, delay: float = 0.0
) -> Motion:
    """Return the motion of a recording: filtered forwards and backwards, differentiated, thinned.

    Positions, rates and efforts pass the same filter, so that what it takes away is missing on
    both sides of the equations of motion.

    The signals have passed `check`. The cut-off frequency [Hz] is by default well above what the
    joints do; the ``delay`` by which efforts come after the motion they belong to [s] is taken
    out. Raises `RecordingError` if the frequency is beyond what the recording holds.
    """
    period, even = even_times(signals)
    if cutoff is None:
        cutoff = min(wanted_cutoff(signals), FASTEST / period)
    least = 4.0 / float(even[-1] - even[0])  # else nothing is left between the edges
    if not least < cutoff < 0.5 / period:
        raise RecordingError(
            f'{signals.name}: cut-off frequency is {cutoff:g} Hz, expected more than {least:.3g} '
            f'(4 periods) and less than half of the sampling rate, {0.5 / period:.4g} Hz'
        )
    can_be_sharper = signals.rate is not None and SHARPER * cutoff < 0.45 / period
    sharper = SHARPER * cutoff if can_be_sharper else cutoff
    track = _track(signals, even, cutoff, delay)
    all_rates = track.rate
    if signals.rate is not None and FINER * cutoff < 0.45 / period:
        all_rates = _track(replace(signals, effort=None), even, FINER * cutoff, 0.0).rate
    step = max(1, int(1.0 / (KEPT_RATE * sharper * period)))
    # between the edges, where the filter has no neighbours on one side
    edge = -(-round(2.0 / cutoff / period) // step)
    every = max(1, int(1.0 / (KEPT_RATE * cutoff * period)) // step)
    count = -(-even.size // step)
    kept = slice(edge * step, (count - edge) * step, every * step)
    motion = _rows(track, kept)
    if can_be_sharper:
        fine = _track(signals, even, sharper, delay)
        grid = Grid(_filter(cutoff, step * period), slice(edge, count - edge, every))
        sharp = _rows(fine, slice(None, None, step))
    else:  # filtered already
        grid, sharp = Grid(None), motion
    return Motion(
        **vars(motion),
        cutoff=cutoff,
        all_rates=all_rates,
        sharp=sharp,
        sharp_grid=grid,
        grid=Grid(_filter(cutoff, period), kept),
    )


def _filter(cutoff: float, period: float) -> Array:
    return np.asarray(signal.butter(ORDER, cutoff, output='sos', fs=1.0 / period))


def _track(signals: Signals, even: Array, cutoff: float, delay: float) -> Track:
    """Return the motion at even times; rates not measured are derivatives."""
    period = float(even[1] - even[0])
    sections, (count, n) = _filter(cutoff, period), signals.position.shape

    def smooth(values: Array, late: float = 0.0) -> Array:
        """Return values (N, k) at even times; columns that were not measured stay NaN."""
        given = ~np.isnan(values).all(axis=0)
        found = np.full((even.size, given.size), np.nan)
        at_times = resampled(signals.time - late, values[:, given], even)
        found[:, given] = signal.sosfiltfilt(sections, at_times, axis=0)
        return found

    def rate_of(values: Array) -> Array:
        return np.asarray(
            signal.savgol_filter(values, POINTS, POINTS - 1, deriv=1, delta=period, axis=0)
        )

    position = smooth(signals.position)
    rate = rate_of(position)
    if signals.rate is not None:
        measured = smooth(signals.rate)
        rate = np.where(np.isnan(measured), rate, measured)
    effort = np.full((even.size, n), np.nan)
    if signals.effort is not None:
        effort = smooth(signals.effort, delay)
    pose = twist = twist_dot = holds = None
    if signals.pose is not None and signals.twist is not None:
        pose = smooth(signals.pose.reshape(count, 16)).reshape(-1, 4, 4)
        left, _, right = np.linalg.svd(pose[:, :3, :3])  # smoothed entry by entry
        pose[:, :3, :3], pose[:, 3] = left @ right, (0.0, 0.0, 0.0, 1.0)
        twist = smooth(signals.twist)
        twist_dot = rate_of(twist)
    if signals.holds is not None:
        lasting = 1 + 2 * round(AROUND / cutoff / period)
        held = resampled(signals.time, signals.holds.astype(float), even)
        holds = ndimage.maximum_filter1d(held, lasting, axis=0) > 0.0
    forces = {frame: smooth(values) for frame, values in signals.forces.items()}
    found: dict[str, Any] = {'time': even, 'position': position, 'rate': rate, 'effort': effort}
    found |= {'acceleration': rate_of(rate), 'forces': forces, 'holds': holds}
    found |= {'pose': pose, 'twist': twist, 'twist_dot': twist_dot}
    return Track(**vars(signals) | found)


def even_times(signals: Signals) -> tuple[float, Array]:
    """Return the median of the period [s], and times (M,) [s] that are it apart."""
    period = float(np.median(np.diff(signals.time)))
    return period, np.arange(signals.time[0], signals.time[-1], period)


def resampled(time: Array, values: Array, at: Array) -> Array:
    """Return values (N, k) at other times (M,), linearly between them."""
    columns = [np.interp(at, time, column) for column in values.T]
    return np.reshape(columns, (len(columns), len(at))).T
