# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A, B and the derivatives of contact wrenches of a held robot, against Pinocchio's.

Ours fills A, B and the wrench derivatives in new arrays that the caller keeps; Pinocchio's
constraintDynamics and computeConstraintDynamicsDerivatives fill what concerns the accelerations.
The breakdown adds what a regulator needs: the reduced pair and the discrete form.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pinocchio as pin

from benchmarks.measure import interleaved_medians
from benchmarks.report import Row, compare
from benchmarks.robots import Pair, paths, read
from geolin_ros import State
from geolin_ros.linearization.contacts import Contact, reduce
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.typing import Array

STANDING = {
    'go2': [Contact(f'{leg}_foot') for leg in ('FL', 'FR', 'RL', 'RR')],
    'g1_29dof_rev_1_0': [Contact(f'{s}_ankle_roll_link', 'surface') for s in ('left', 'right')],
    'talos_reduced': [Contact(f'{side}_sole_link', 'surface') for side in ('left', 'right')],
    'talos_full_v2': [Contact('left_sole_link', 'surface')],
}
LIMIT = 0.35
WHAT, PEER = 'A, B and contact wrenches', 'pin.constraintDynamics and derivatives'


def pinocchio_call(
    pair: Pair, contacts: Sequence[Contact], q: Array, v: Array, tau: Array
) -> Callable[[], None]:
    """Return Pinocchio's constrained dynamics and their derivatives at a point."""
    model, data = pair.pin_model, pair.pin_data
    held = []
    for contact in contacts:
        frame = model.frames[model.getFrameId(contact.frame)]
        point = contact.kind == 'point'
        kind = pin.ContactType.CONTACT_3D if point else pin.ContactType.CONTACT_6D
        placement = frame.placement, 0, pin.SE3.Identity()
        held.append(
            pin.RigidConstraintModel(kind, model, frame.parentJoint, *placement, pin.LOCAL)
        )
    held_data = [constraint.createData() for constraint in held]
    pin.initConstraintDynamics(model, data, held, held_data)
    exact = pin.ProximalSettings(1e-15, 0.0, 1)

    def call() -> None:
        pin.constraintDynamics(model, data, q, v, tau, held, held_data, exact)
        pin.computeConstraintDynamicsDerivatives(model, data, held, held_data, exact)

    return call


def breakdown(linearizer: Linearizer, state: State, tau: Array, rounds: int) -> dict[str, float]:
    """Return the time [us] of the parts, each by itself."""
    engine = linearizer._engine
    assert engine is not None
    C = linearizer(state, tau)
    C.geometry, C.dropped  # noqa: B018
    R = reduce(C)
    times = interleaved_medians(
        {
            'kernel': partial(
                engine.run, state.data, engine.inputs, engine.workspace, engine.outputs.out
            ),
            'call': partial(linearizer, state, tau),
            'J, M, rank (general algorithm)': lambda: linearizer(state, tau).geometry,
            'reduced pair of these': partial(reduce, C, R),
            'discrete form of the reduced pair': partial(R.discretize, 1e-3),
            'discrete form, full, zoh': partial(
                linearizer.discretize, state, tau, 1e-3, method='zoh'
            ),
        },
        rounds,
    )
    return {name: 1e6 * time for name, time in times.items()}


def measure(rounds: int, detail: bool = False) -> list[Row]:
    """Compare standing robots; with ``detail`` print where the time goes."""
    rows = []
    for path in paths(list(STANDING)):
        pair = read(path)
        if pair is None:
            continue
        contacts = STANDING[pair.name]
        (state, tau), theirs = pair.operating_point(np.random.default_rng(1))
        linearizer = Linearizer(pair.model, contacts)
        held = f'{len(contacts)} {contacts[0].kind}' + 's' * (len(contacts) > 1)
        ours, peer = partial(linearizer, state, tau), pinocchio_call(pair, contacts, *theirs)
        rows.append(compare(WHAT, f'{pair.name}, {held}', ours, PEER, peer, rounds, LIMIT))
        if detail:
            for name, time in breakdown(linearizer, state, tau, max(20, rounds // 5)).items():
                print(f'    {name:40} {time:9.1f} us')
    return rows


if __name__ == '__main__':
    measure(200, detail=True)
