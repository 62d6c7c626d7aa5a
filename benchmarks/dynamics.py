# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of one state through the public functions, against Pinocchio's."""

import argparse
from functools import partial

import numpy as np
import pinocchio as pin

from benchmarks.report import Row, compare
from benchmarks.robots import paths, read
from benchmarks.single_state import ROBOTS
from geolin_ros import forward_dynamics, inverse_dynamics, mass_matrix

PEERS = 'aba', 'rnea', 'crba'


def measure(rounds: int) -> list[Row]:
    """Compare inverse and forward dynamics and the mass matrix; results are new arrays."""
    rows = []
    for path in paths(ROBOTS):
        pair = read(path)
        if pair is None:
            continue
        rng = np.random.default_rng(1)
        (state, tau), (q, v, effort) = pair.operating_point(rng)
        nu_dot, model = rng.normal(size=pair.model.m), pair.model
        theirs = pair.pin_model, pair.pin_data, q
        cases = (
            ('forward dynamics', partial(forward_dynamics, model, state, tau), (v, effort), 0.5),
            (
                'inverse dynamics',
                partial(inverse_dynamics, model, state, nu_dot),
                (v, nu_dot),
                0.6,
            ),
            ('mass matrix', partial(mass_matrix, model, state), (), 0.7),
        )
        for (what, ours, arguments, limit), name in zip(cases, PEERS, strict=True):
            peer = partial(getattr(pin, name), *theirs, *arguments)
            rows.append(compare(what, pair.name, ours, f'pin.{name}', peer, rounds, limit))
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=200, help='interleaved blocks')
    measure(parser.parse_args().rounds)


if __name__ == '__main__':
    main()
