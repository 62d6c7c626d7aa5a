# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is identified of real arms, tried on data that it was not trained on."""

from typing import NamedTuple

import numpy as np
from geolin_tools.identification import Signals, identify
from geolin_tools.identification.joint_log import joint_signals
from recordings import FOLDER, joints_of, logged

from geolin_ros import TreeModel
from geolin_ros.offline.source import open_source

PANDA_LEFT = np.array((0.27, 0.44, 0.32, 0.28, 0.07, 0.05, 0.04))
"""RMS [N m] of plain least squares by Pinocchio's regressor on the last third, joints 1 to 7."""


class Arm(NamedTuple):
    """A robot, a recording to train on, and one to try."""

    urdf: object
    model: TreeModel
    train: Signals
    tried: Signals
    missed: object
    """Takes an `Identification` and the residuals of plain least squares; says what is missed."""


def panda(begin, end):
    """Return the Panda, trained on a part and tried on the rest."""
    (signals,), urdf, joints = _logs('panda_gaz')

    def missed(found, plain):
        if (found.after > 1.1 * PANDA_LEFT).any():
            yield 'more than 1.1 times plain least squares of Pinocchio on a joint'

    rest = (end, 1.0) if begin == 0.0 else (0.0, begin)
    model = read(urdf, joints=joints)
    return Arm(urdf, model, signals.between(begin, end), signals.between(*rest), missed)


def kuka(train, tried):
    """Return the LWR, trained on one run and tried on another."""
    runs, urdf, _ = _logs('kuka_lwr4', 'measurements_1.npz', 'measurements_2.npz')

    def missed(found, plain):
        left = found.after / found.before
        if (left >= 1.0).any():
            yield 'a joint is worse than by the URDF alone'
        if left.mean() > 0.45:
            yield 'more than 0.45 of the URDF alone in the mean'

    return Arm(urdf, read(urdf), runs[train - 1], runs[tried - 1], missed)


def ur10(half):
    """Return the UR10, trained on one half of its bag and tried on the other."""
    folder = FOLDER / 'ur10_panda_rosbag2'
    urdf, bag = folder / 'ur10_robot.urdf', folder / 'ur10_exciting_trajectory'
    values = {'base': 'fixed', 'coulomb_friction': True}
    with open_source([bag], urdf=urdf, values=values) as source:
        signals = joint_signals(source)
    halves = signals.between(0.0, 0.5), signals.between(0.5, 1.0)

    def missed(found, plain):
        if (found.after[:3] > (4.0, 7.0, 4.0)).any():
            yield 'more than 4, 7, 4 N m on the first three joints'

    return Arm(urdf, read(urdf), halves[half], halves[1 - half], missed)


ARMS = {
    'panda_gaz, last third': lambda: panda(0.0, 2 / 3),
    'kuka_lwr4, run 2': lambda: kuka(1, 2),
    'kuka_lwr4, run 1': lambda: kuka(2, 1),
    'UR10, second half': lambda: ur10(0),
    'UR10, first half': lambda: ur10(1),
}
"""By what they are tried on; trained is on the rest."""


def _logs(name, *files):
    found = []
    for file in files or ('',):
        log, folder = logged(name, file)
        names = log.topics['/joint_states'].message.name
        rows = (joints_of(log, field, names) for field in ('position', 'velocity', 'effort'))
        found.append(Signals(file or name, log.time - log.time[0], *rows))
    folder = folder if folder.is_dir() else folder.parent
    return found, next(folder.glob(f'{name.partition("_gaz")[0]}.urdf')), list(names)


def read(urdf, **options):
    """Return a robot on a fixed base, with friction."""
    return TreeModel.from_urdf(urdf, base='fixed', coulomb_friction=True, **options)


# ---- plain least squares


def plain_residuals(found):
    """Return RMS residuals (n,) on data kept aside of least squares without a prior.

    Columns: inertial parameters, rotor inertia, viscous and Coulomb friction, offset of each
    joint; the same signals as those of an `Identification`.
    """
    numbers = np.linalg.lstsq(*_rows(found.trained), rcond=1e-9)[0]
    W, measured = _rows(found.aside)
    left = (W @ numbers - measured).reshape(-1, found.model.n)
    return np.sqrt(np.mean(left**2, axis=0))


def _rows(equations):
    count, n, _ = equations.regressor.shape
    own = np.zeros((count, n, 4 * n))
    for c in range(n):
        sign = equations.of_rate(c, np.sign)
        columns = equations.acceleration[:, c], equations.rate[:, c], sign, np.ones(count)
        own[:, c, 4 * c : 4 * c + 4] = np.stack(columns, axis=1)
    W = np.concatenate((equations.regressor, own), axis=2)
    return W.reshape(count * n, -1), equations.measured.ravel()


# ---- table

HEAD = ('tried on', 'of', 'joint 1 to 7', 'determined')

TEXT = """\
Identification: root mean square residual of joint efforts [N m] on validation data. Plain least
squares has inertial parameters, rotor inertia, viscous and Coulomb friction and offsets, without a
prior; the same filtered signals."""


def tried(arm):
    """Return what is identified of an arm, what plain least squares leaves, and what is missed."""
    found = identify(arm.model, [arm.train], [arm.tried])
    plain = plain_residuals(found)
    return found, plain, list(arm.missed(found, plain))


def of_arms():
    """Yield rows of the table, and whether the goals of their arm are met."""
    for name, arm in ARMS.items():
        found, plain, missed = tried(arm())
        determined = f'{found.rank} of {found.parameters.count}'
        for title, values in (
            ('effort', found.effort),
            ('URDF alone', found.before),
            ('plain least squares', plain),
            ('identified', found.after),
        ):
            cells = ', '.join(f'{value:.2f}' for value in values)
            yield (name, title, cells, determined if title == 'identified' else ''), not missed
