# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot identified from recordings, tried on data kept aside."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from geolin_ros.errors import RecordingError, UnsolvableError, UnsupportedJointError
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array
from geolin_tools.identification.equations import Equations, equations_of, joined
from geolin_tools.identification.excitation import find_delay
from geolin_tools.identification.fit import Features, Fit, Watch, fit
from geolin_tools.identification.parameters import (
    LOGARITHMIC,
    NUMBERS,
    TENSOR,
    UNITS,
    Parameters,
    Prior,
    is_physical,
    of_mass,
)
from geolin_tools.identification.signals import Signals, check, prepare

KEPT_ASIDE = 0.25
WORTH = 0.9
"""What is left of the efforts kept aside, by the description's, must be less in the mean."""
UNEXPLAINED = 0.7  # more than this part of all efforts' variation left unexplained is no fit
EFFORTLESS = 1e-9  # rows whose efforts vary less tell nothing [N m or N]
TRUSTS = (0.1, 0.3, 1.0)  # among which `choose_prior` chooses
CARRIED, FREE = 0.5, 1e-3
"""Mean force on the base by the weight that has to be given; equations a sample that have to be
free of forces that are not."""
_NAMES = ('mass', 'x', 'y', 'z', 'ixx', 'ixy', 'iyy', 'ixz', 'iyz', 'izz')
_UNITS = ('kg', *('m',) * 3, *('kg m^2',) * 6)
_Data = tuple[Equations, Equations, float, float]  # used and kept aside, cutoff [Hz], delay [s]


class Change(NamedTuple):
    """One quantity, before and after.

    ``deviation`` is its standard deviation after, ``prior`` before, ``determined`` the part of
    its variance that the data took away: 0 if they say nothing about it.
    """

    of: str
    name: str
    unit: str
    before: float
    after: float
    deviation: float
    prior: float
    determined: float

    @property
    def moved(self) -> float:
        """By how many standard deviations it moved."""
        return abs(self.after - self.before) / self.deviation if self.deviation > 0.0 else 0.0

    @property
    def surprise(self) -> float:
        """The same in those that it had before: far more than 3 is not to be believed."""
        if not self.prior > 0.0:
            return 0.0
        if self.name in ('mass', *LOGARITHMIC) and self.after * self.before > 0.0:
            return abs(float(np.log(self.after / self.before)) * self.before / self.prior)
        return abs(self.after - self.before) / self.prior


@dataclass(frozen=True)
class Identification:
    """What recordings say about a robot."""

    model: TreeModel
    """The description."""
    parameters: Parameters
    fit: Fit
    """Its numbers, and what was found."""
    trained: Equations
    aside: Equations
    """Of the data used and of those kept aside."""
    cutoff: float
    """Of the filter [Hz]."""
    delay: float
    """By how much efforts came after the motion [s]; it was taken out."""
    folds: tuple['Identification', ...] = ()
    """What all recordings but one say, each tried on that one, which are ``aside`` then."""

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows of `before` and `after`."""
        base = tuple(f'base {name}' for name in ('fx', 'fy', 'fz', 'mx', 'my', 'mz'))
        return (*(base if self.model.base == 'floating' else ()), *self.model.joint_names)

    @property
    def before(self) -> Array:
        """Root mean square (m,) that the description leaves of the efforts kept aside."""
        return _rms(self.aside.described - self.aside.measured)

    @property
    def after(self) -> Array:
        """The same of what was found."""
        return _rms(self.predicted - self.aside.measured)

    @property
    def effort(self) -> Array:
        """Standard deviation (m,) of the efforts kept aside."""
        return np.asarray(self.aside.measured.std(axis=0))

    @property
    def predicted(self) -> Array:
        """Efforts (N, m) predicted of the data kept aside."""
        if self.folds:
            return np.concatenate([fold.predicted for fold in self.folds])
        return Features(self.parameters, self.aside).predict(self.fit.x)

    @property
    def inertial(self) -> Array:
        """Ten parameters of each body (nb, 10), see `inverse_dynamics_regressor`."""
        return self.parameters.inertial(self.fit.x)

    def unexplained(self) -> Array:
        """Return which part of the efforts kept aside is left, of each row that has some."""
        moving = self.effort > EFFORTLESS
        return np.asarray(self.after[moving] / self.effort[moving])

    def changes(self) -> list[Change]:
        """Return every quantity: of bodies, then of joints."""
        p, x, covariance, none = self.parameters, self.fit.x, self.fit.covariance, 0.0 * self.fit.x
        origin, found, load = p.own(none), p.own(x), p.payload
        changes = []
        for (i, _, J_0), (_, part, J) in zip(
            p.inertial_jacobians(none), p.inertial_jacobians(x), strict=True
        ):
            slope, first = _quantity_slopes(found[i]) @ J, _quantity_slopes(origin[i]) @ J_0
            variance = np.diag(slope @ covariance[part, part] @ slope.T)
            prior = np.diag(first @ first.T)
            columns = (
                np.zeros(NUMBERS) if load else _quantities(p.described[i]),
                _quantities(found[i]),
                np.sqrt(variance),
                np.sqrt(prior),
                np.clip(1.0 - variance / np.maximum(prior, 1e-300), 0.0, 1.0),
            )
            of = f'load on {load}' if load else self.model.body_names[i]
            for name, unit, *numbers in zip(_NAMES, _UNITS, *columns, strict=True):
                changes.append(Change(of, name, unit, *map(float, numbers)))
        for at, number in enumerate(p.joints, p.first):
            left, value = covariance[at, at], number.value(x[at])
            spread, known = abs(number.slope(x[at])) * np.sqrt(left), 1.0 - min(left, 1.0)
            names = self.model.joint_names[number.joint], number.kind, UNITS[number.kind]
            row = number.start, value, spread, abs(number.slope(0.0)), known
            changes.append(Change(*names, *map(float, row)))
        return changes

    def left(self) -> Array:
        """Return what is left of the deviation (p,) of combinations of the numbers, least first.

        1 is all: the data tell nothing of it.
        """
        values = np.linalg.eigvalsh(self.fit.information)[::-1]
        return np.asarray(1.0 / np.sqrt(1.0 + np.maximum(values, 0.0)))

    @property
    def rank(self) -> int:
        """How many combinations the data tell."""
        return int((np.linalg.eigvalsh(self.fit.information) > 1.0).sum())

    def joint_values(self) -> dict[tuple[str, str], float]:
        """Return what was found of joints, by name and kind."""
        values, names = self.parameters.joint_values(self.fit.x), self.model.joint_names
        return {(names[joint], kind): value for (joint, kind), value in values.items()}


def identify(
    model: TreeModel,
    recordings: Sequence[Signals],
    aside: Sequence[Signals] = (),
    *,
    prior: Prior | None = None,
    cutoff: float | None = None,
    delay: float | None = 0.0,
    watch: Watch = lambda rounds, total: rounds,
) -> Identification:
    """Return what recordings say about a robot.

    Raises `RecordingError` if the recordings cannot tell anything; says which and why. Raises
    `UnsolvableError` if what was found does not predict data kept aside better than the
    description. Raises `UnsupportedJointError` if a joint that is to be found has several axes.

    Parameters
    ----------
    model
        The description, read with ``coulomb_friction=True``.
    recordings
        What was measured; with a fixed base efforts, with a floating one pose and twist of it,
        and every wrench that the surroundings exert, or where that is, with or without efforts.
    aside
        Recordings on which the result is tried. By default each of several by what the others
        say [Stone 1974]: the result is of all then. Where that fails, as recordings of different
        motions may not tell of each other, and of a single one, the last quarter of each.
    prior
        What is believed of the robot before; see `Prior`.
    cutoff, delay
        See `prepare`; a delay of None is found, see `find_delay`, and taken out if that leaves
        less of the efforts kept aside; it is 0 where a recording does not tell.

    References
    ----------
    [Rucker 2022], [Wensing 2018], [Lee 2018], [Atkeson 1986].
    """
    if model.positions.groups:
        raise UnsupportedJointError(
            f'robot {model.name!r} has joints whose position is a rotation or a pose, expected '
            'joints with a number for each axis; write each as several'
        )
    if not recordings:
        raise RecordingError('no recording was given, expected at least one')
    train, prior = list(recordings), prior or Prior()
    for signals in (*recordings, *aside):
        _require_inputs(signals, model, prior)
    names, lates = ', '.join(signals.name for signals in recordings), {delay or 0.0}
    if delay is None:
        found = np.mean([find_delay(model, signals, cutoff) for signals in train])
        lates.add(float(np.nan_to_num(found)))

    def tried_on_each(late: float) -> Identification:
        """Return what all recordings say, tried on each by what the others say."""
        folds = tuple(_fitted(model, one, prior) for one in _one_aside(model, train, cutoff, late))
        whole = _fitted(model, _data(model, train, (), cutoff, late), prior, watch)
        return replace(whole, aside=joined([fold.aside for fold in folds]), folds=folds)

    if not aside and len(train) > 1:
        result = _best(map(tried_on_each, lates))
        with suppress(UnsolvableError):  # no recording tells of the motion of the others
            _check(result, names)
            return result
    if not aside:
        train = [signals.between(0.0, 1.0 - KEPT_ASIDE) for signals in recordings]
        aside = [signals.between(1.0 - KEPT_ASIDE, 1.0) for signals in recordings]
    result = _best(
        _fitted(model, _data(model, train, aside, cutoff, late), prior, watch) for late in lates
    )
    _check(result, names)
    return result


def _best(results: Iterable[Identification]) -> Identification:
    return min(results, key=lambda found: float(np.sum(found.unexplained())))


def choose_prior(
    model: TreeModel,
    recordings: Sequence[Signals],
    prior: Prior | None = None,
    *,
    cutoff: float | None = None,
    watch: Watch = lambda rounds, total: rounds,
) -> Prior:
    """Return the trust, and whether there are springs, that leave least of efforts not trained on.

    Each recording in turn is kept aside [Stone 1974]. Others than the default are chosen where
    they leave less in the mean logarithm over joints and recordings by more than its standard
    error. A single recording says nothing of other motions: the default stays. So do the scales
    of ``prior``; what else is given is as of `identify`.
    """
    start, parts = prior or Prior(), list(recordings)
    if len(parts) < 2:
        return start
    for signals in recordings:
        _require_inputs(signals, model, start)
    priors = [start._replace(trust=t, springs=s) for t in TRUSTS for s in (True, False)]
    left: list[list[Array]] = [[] for _ in priors]
    for data in watch(_one_aside(model, parts, cutoff, 0.0), len(parts)):
        for of_prior, one in zip(left, priors, strict=True):
            of_prior.append(np.log(_fitted(model, data, one).unexplained()))
    by_row = np.array([np.concatenate(rows) for rows in left])
    default = priors.index(start._replace(trust=Prior().trust, springs=True))
    change = by_row - by_row[default]
    margin = change.std(axis=1) / np.sqrt(max(change.shape[1] - 1, 1))
    clear = np.where(change.mean(axis=1) + margin < 0.0, change.mean(axis=1), 0.0)
    return priors[int(clear.argmin()) if clear.min() < 0.0 else default]


def _data(
    model: TreeModel,
    train: Sequence[Signals],
    aside: Sequence[Signals],
    cutoff: float | None,
    delay: float,
) -> _Data:
    """Return the equations of recordings; all pass the filter of the fastest."""
    motions = [prepare(signals, model, cutoff, delay) for signals in train]
    highest = max(motion.cutoff for motion in motions)
    tests = [prepare(signals, model, highest, delay) for signals in aside]
    trained = equations_of(model, motions)
    _require_forces(model, trained)
    return trained, equations_of(model, tests) if tests else trained, highest, delay


def _fitted(
    model: TreeModel, data: _Data, prior: Prior, watch: Watch = lambda rounds, total: rounds
) -> Identification:
    """Return what data say, good or not."""
    used, *_ = data
    parameters = Parameters(model, used, prior)
    return Identification(model, parameters, fit(parameters, used, watch), *data)


def _one_aside(
    model: TreeModel, recordings: list[Signals], cutoff: float | None, delay: float
) -> Iterator[_Data]:
    """Yield the data with each recording in turn kept aside."""
    for k in range(len(recordings)):
        others = recordings[:k] + recordings[k + 1 :]
        yield _data(model, others, recordings[k : k + 1], cutoff, delay)


def _require_forces(model: TreeModel, equations: Equations) -> None:
    """Raise `RecordingError` where forces that are not known carry the robot, or all are."""
    names = ', '.join(motion.name for motion in equations.motions)
    if all(free is not None for free in equations.free):
        if equations.shares.sum(axis=1).max() < FREE:
            raise RecordingError(
                f'{names}: contacts and joints without efforts leave no equation free of unknown '
                'forces, expected one at least; give efforts, or measured forces of the feet '
                '(wrench_topics instead of contacts)'
            )
    elif model.base == 'floating':
        weight = model.total_mass * float(np.linalg.norm(model.gravity))
        missing = float(np.linalg.norm(equations.described[:, :3].mean(axis=0)))
        if missing > CARRIED * weight:
            raise RecordingError(
                f'{names}: forces of {missing:.3g} N on the base in the mean, of a weight of '
                f'{weight:.3g} N, come from nowhere, expected next to none: something carries the '
                'robot; give contacts (contacts, contact_source), or measured forces '
                '(wrench_topics)'
            )


def _require_inputs(signals: Signals, model: TreeModel, prior: Prior) -> None:
    check(signals, model)
    has_efforts = signals.effort is not None and not np.isnan(signals.effort).all()
    if not has_efforts and (
        model.base == 'fixed' or (signals.holds is not None and not signals.forces)
    ):
        raise RecordingError(
            f'{signals.name} has no efforts, expected those of some joints: on a fixed base, or '
            'with contacts and without measured forces (wrench_topics), only ratios of masses are '
            'determined at best; give efforts'
        )
    if prior.scales and signals.holds is not None:
        raise RecordingError(
            f'{signals.name} has contacts, with which no scale of efforts is found of joints '
            f'{", ".join(prior.scales)}; find it without contacts, and lay its overlay over them'
        )
    if model.base == 'floating' and (signals.pose is None or signals.twist is None):
        raise RecordingError(
            f'{signals.name} has no odometry, expected pose and twist of the base of robot '
            f"{model.name!r}; give it, or identify with base 'fixed'"
        )


def _check(result: Identification, name: str) -> None:
    """Raise `UnsolvableError` unless the result is better where it was not trained."""
    for i in result.parameters.bodies:
        if not is_physical(result.inertial[i]):
            raise UnsolvableError(
                f'{name}: link {result.model.body_names[i]!r} came out as a body that cannot '
                'exist by rounding; lower trust'
            )
    before, after = result.before, result.after
    known = np.isfinite(after) & (before > 0.0)
    left = float(np.mean(after[known] / before[known]))
    if left > WORTH and float(np.max(after[known])) > 1e-6:
        raise UnsolvableError(
            f'{name}: what was identified leaves {left:.0%} of the residuals of the description '
            f'on data kept aside, expected less than {WORTH:.0%}: either the description is as '
            'good as these data can tell, or they are wrong (units, order of joints, forces that '
            'were not given)'
        )
    unexplained = float(np.median(result.unexplained())) if result.unexplained().size else 0.0
    if unexplained > UNEXPLAINED:
        raise UnsolvableError(
            f'{name}: {unexplained:.0%} of the efforts kept aside stay unexplained in the median '
            f'joint, expected less than {UNEXPLAINED:.0%}: efforts and motion do not belong '
            'together (order of joints, units, a delay, forces that were not given)'
        )


def _quantities(parameters: Array) -> Array:
    """Return mass, centre of mass and inertia about it, (10,)."""
    mass, com, tensor = of_mass(parameters)
    return np.array([mass, *com, *(tensor[at] for at in TENSOR)])


def _quantity_slopes(parameters: Array) -> Array:
    """Return the derivative (10, 10) of `_quantities`, by central differences."""
    scale = np.maximum(np.abs(parameters), 1e-3 * np.abs(parameters).max()) * 1e-6
    steps = np.diag(scale)
    moved = [_quantities(parameters + step) - _quantities(parameters - step) for step in steps]
    return np.asarray(np.stack(moved, axis=1) / (2.0 * scale))


def _rms(values: Array) -> Array:
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))
