# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Let LQR stand with gains designed at each state, ten times a second, and for the motion alone.

Each case of `python -m geolin_demos.balance`, in one process: the largest impulse borne, and how
far the base is from its reference at the case's own impulse (root mean square).
"""

import argparse
import sys
from collections.abc import Iterator
from functools import partial

import numpy as np
from geolin_demos.balance.baseline import ScheduledLqr, largest_borne, run
from geolin_demos.balance.cases import Moment, Motion, cases_of
from geolin_demos.balance.robots import (
    BUNDLED,
    DESIGNS,
    add_robot_arguments,
    simulator_of,
)
from geolin_demos.sim.simulator import PERIOD

from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.lqr import Gains, design
from geolin_ros.errors import GeolinError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array


class RedesignedLqr(ScheduledLqr):
    """LQR with gains about the posture that the robot is in, designed every so many states.

    Those of the motion serve where the posture cannot be held on the supports, as in a push.
    """

    def __init__(self, model: TreeModel, motion: Motion, every: int) -> None:
        super().__init__(model, motion)
        self._every, self._states = every, 0
        self._last: Gains | None = None

    def gains(self, moment: Moment, state: State) -> Array:
        """Return those designed last, or now if it is time."""
        if self._states % self._every == 0:
            try:
                point = equilibrium(self._model, state, moment.supports)
                self._last = design(self._model, point, previous=self._last)
            except GeolinError:
                self._last = None
        self._states += 1
        if self._last is None or tuple(self._last.supports) != tuple(moment.supports):
            return super().gains(moment, state)
        return self._last.K + self._last.K_complement


LAGGING = round(1.0 / (DESIGNS * PERIOD))
"""States from one design to the next where gains lag."""
LAWS = (
    ScheduledLqr,
    partial(RedesignedLqr, every=LAGGING),
    partial(RedesignedLqr, every=1),
)
GAINS = ('the motion', f'{DESIGNS:g} Hz', 'each state')
HEAD = ('robot', 'case', *(f'{what}, {of}' for of in GAINS for what in ('J [s]', 'rms [mm]')))


def rows(options: argparse.Namespace) -> Iterator[list[str]]:
    """Yield the cells of each case."""
    for name in [options.robot] if options.robot else BUNDLED:
        simulator = simulator_of(name, options.feet, options.effort_limit, options.friction)
        asked = options.cases, options.height, options.pushes, options.seed
        for case in cases_of(simulator, *asked).feasible:
            cells = [simulator.model.name, case.name]
            for law in LAWS:
                first = run(simulator, case, law)
                off = np.linalg.norm(first.errors()[:, :3], axis=1)
                borne = largest_borne(simulator, case, law, first.stands)
                cells += [f'{borne:.3f}', f'{1e3 * np.sqrt(np.mean(off**2)):.2f}']
            yield cells


def main(arguments: list[str] | None = None) -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(
        prog='python -m benchmarks.balance_redesign', description=__doc__
    )
    add_robot_arguments(parser)
    options = parser.parse_args(arguments)
    print(*(f'| {" | ".join(cells)} |' for cells in (HEAD, ['---'] * len(HEAD))), sep='\n')
    try:
        for cells in rows(options):
            print(f'| {" | ".join(cells)} |', flush=True)
    except (GeolinError, OSError) as error:
        print(f'balance: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
