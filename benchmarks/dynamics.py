# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of one state through the public `Dynamics`, against Pinocchio's."""

import argparse
from functools import partial

import numpy as np
import pinocchio as pin

from benchmarks.report import Row, compare
from benchmarks.robots import paths, read
from benchmarks.single_state import ROBOTS
from geolin_ros import Dynamics

PEERS = 'aba', 'rnea', 'crba'


def measure(rounds: int) -> list[Row]:
    """Compare inverse and forward dynamics and the mass matrix, in a workspace."""
    rows = []
    for path in paths(ROBOTS):
        pair = read(path)
        if pair is None:
            continue
        rng = np.random.default_rng(1)
        (state, tau), (q, v, effort) = pair.operating_point(rng)
        nu_dot, own = rng.normal(size=pair.model.m), Dynamics(pair.model)
        theirs = pair.pin_model, pair.pin_data, q
        cases = (
            ('forward dynamics', partial(own.forward_dynamics, state, tau), (v, effort), 0.5),
            (
                'inverse dynamics',
                partial(own.inverse_dynamics, state, nu_dot),
                (v, nu_dot),
                0.7,
            ),
            ('mass matrix', partial(own.mass_matrix, state), (), 0.7),
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
