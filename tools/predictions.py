# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How well A, B and drift say what a real arm does next, by its description and as identified.

GEOLIN_RECORDINGS=FOLDER python tools/predictions.py [--table FILE]
"""

import argparse
import sys
import warnings
from pathlib import Path

import arms
import evidence
import numpy as np
from arms import ARMS
from recordings import FOLDER
from scipy.linalg import expm
from scipy.signal import butter, sosfiltfilt

from geolin_ros import Linearizer, urdf
from geolin_ros.errors import ModelWarning
from geolin_ros.estimation.identification import identify, overlay_of

NAMES = ('panda_gaz, last third', 'UR10, second half', 'kuka_lwr4, run 2')
HORIZONS = (0.005, 0.02, 0.05)
CUTOFF = 20.0
"""Of the filter that positions, rates and efforts pass forwards and backwards [Hz]."""
STEP = 0.001
POINTS = 40
"""Of a recording, evenly spread."""


def predicted(model, signals):
    """Return RMS errors of the rates (3 horizons, 3): constant rate, A and B, the model."""
    period = float(np.median(np.diff(signals.time)))
    even = np.arange(signals.time[0], signals.time[-1], period)
    sections = butter(4, CUTOFF, output='sos', fs=1.0 / period)
    q, v, effort = (
        sosfiltfilt(sections, np.stack([np.interp(even, signals.time, x) for x in y.T]), axis=1)
        for y in (signals.position, signals.rate, signals.effort)
    )
    if model.effort_scale:
        effort = (effort.T * np.asarray(model.effort_scale) - np.asarray(model.effort_offset)).T
    linearizer, pose, still = Linearizer(model), np.eye(4), np.zeros(6)

    def at(time, rows):
        return np.array([np.interp(time, even, row) for row in rows])

    def rate(time, x):
        s, r = np.split(x, 2)
        state = model.state(pose, s, still, r)
        return np.concatenate((r, linearizer.forward_dynamics(state, at(time, effort))))

    errors = []
    for t in np.linspace(even[0] + 0.5, even[-1] - 0.5, POINTS):
        s, r, tau = at(t, q), at(t, v), at(t, effort)
        L = linearizer(model.state(pose, s, still, r), tau)
        A, B, drift, n = L.A.copy(), L.B.copy(), np.concatenate((r, L.nu_dot)), s.size
        x, now, row = np.concatenate((s, r)), t, []
        for horizon in HORIZONS:
            mean = at(np.linspace(t, t + horizon, 9), effort).mean(axis=1)
            step = np.zeros((2 * n + 1,) * 2)
            step[:-1, :-1], step[:-1, -1] = A * horizon, (drift + B @ (mean - tau)) * horizon
            z = expm(step)[:-1, -1]
            while now < t + horizon - 1e-9:  # Runge and Kutta's
                h = min(STEP, t + horizon - now)
                k1 = rate(now, x)
                k2 = rate(now + h / 2, x + h / 2 * k1)
                k3 = rate(now + h / 2, x + h / 2 * k2)
                k4 = rate(now + h, x + h * k3)
                x, now = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), now + h
            truth = at(t + horizon, v)
            row.append([r - truth, r + z[n:] - truth, x[n:] - truth])
        errors.append(row)
    return np.sqrt(np.nanmean(np.square(errors), axis=(0, 3)))


def table():
    """Yield the rows of the table."""
    for name in NAMES:
        arm = ARMS[name]()
        found = identify(arm.model, [arm.train], [arm.tried])
        overlay = overlay_of(found, urdf.read(arm.urdf))
        identified = arms.read(arm.urdf, joints=arm.model.joint_names, overlay=overlay)
        before, after = (predicted(model, arm.tried) for model in (arm.model, identified))
        for horizon, old, new in zip(HORIZONS, before, after, strict=True):
            yield (
                *(name, f'{horizon * 1e3:g} ms', f'{old[0]:.3f}'),
                *(f'{value:.3f}' for value in (*old[1:], *new[1:])),
            )


HEAD = ('recording', 'over', 'constant rate', 'A, B', 'model', 'A, B identified', 'identified')

TEXT = """\
Root mean square error of the joint rates [rad/s] that are predicted over some time, from measured
positions, rates and efforts, on data that the identified model was not trained on. A, B: the
published matrices and drift, once about the start; model: forward dynamics, integrated along the
measured efforts. All signals pass a filter of 20 Hz forwards and backwards."""


def main():
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--table', type=Path)
    options = parser.parse_args()
    if not FOLDER.is_dir():
        print(f'recordings of real robots are not in {FOLDER}')
        return 1
    rows = []
    for row in table():
        print(*row, flush=True)
        rows.append(row)
    if options.table:
        options.table.write_text('\n'.join((TEXT, '', *evidence.table(HEAD, rows), '')))
    return 0


if __name__ == '__main__':
    warnings.simplefilter('ignore', ModelWarning)
    sys.exit(main())
