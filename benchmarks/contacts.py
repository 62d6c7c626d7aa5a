# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A, B and the derivatives of contact wrenches of a robot in contact, against Pinocchio's.

Ours fills A, B and the wrench derivatives in new arrays that the caller keeps; Pinocchio's
constraintDynamics and computeConstraintDynamicsDerivatives fill what concerns the accelerations.
The breakdown adds what a regulator needs: the reduced pair and the discrete form.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import get_args

import numpy as np
import pinocchio as pin

from benchmarks.measure import interleaved_medians
from benchmarks.report import Row, compare
from benchmarks.robots import Pair, paths, read
from geolin_ros import State
from geolin_ros.linearization.contacts import Contact, ContactKind, Loop
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.reduction import reduce
from geolin_ros.typing import Array

STANDING = {
    'go2': [Contact(f'{leg}_foot') for leg in ('FL', 'FR', 'RL', 'RR')],
    'g1_29dof_rev_1_0': [Contact(f'{s}_ankle_roll_link', 'surface') for s in ('left', 'right')],
    'talos_reduced': [Contact(f'{side}_sole_link', 'surface') for side in ('left', 'right')],
    'talos_full_v2': [Contact('left_sole_link', 'surface')],
}
LIMIT = 0.35
WHAT, PEER = 'A, B and contact wrenches', 'pin.constraintDynamics and derivatives'
REDUNDANT_ROBOT, REDUNDANT = 'go2', 'A, B and wrenches of redundant contacts'
LOOPS = [('FL_foot', 'FR_foot'), ('RL_foot', 'RR_foot')]
LOOP_ROBOT, LOOP_WHAT = 'go2', 'A, B and forces of loops'


def pinocchio_call(
    pair: Pair,
    contacts: Sequence[Contact | Loop],
    q: Array,
    v: Array,
    tau: Array,
    settings: pin.ProximalSettings | None = None,
) -> Callable[[], None]:
    """Return Pinocchio's constrained dynamics and their derivatives at a point.

    Redundant rows need ``settings`` with a regularization; others are solved exactly.
    """
    model, data = pair.pin_model, pair.pin_data
    held = []
    for contact in contacts:
        loop = isinstance(contact, Loop)
        name = contact.frame_a if loop else contact.frame
        frame = model.frames[model.getFrameId(name)]
        point = contact.kind == 'point'
        kind = pin.ContactType.CONTACT_3D if point else pin.ContactType.CONTACT_6D
        placement = frame.placement, 0, pin.SE3.Identity()
        if loop:
            other = model.frames[model.getFrameId(contact.frame_b)]
            placement = frame.placement, other.parentJoint, other.placement
        held.append(
            pin.RigidConstraintModel(kind, model, frame.parentJoint, *placement, pin.LOCAL)
        )
    held_data = [constraint.createData() for constraint in held]
    pin.initConstraintDynamics(model, data, held, held_data)
    solved = settings or pin.ProximalSettings(1e-15, 0.0, 1)

    def call() -> None:
        pin.constraintDynamics(model, data, q, v, tau, held, held_data, solved)
        pin.computeConstraintDynamicsDerivatives(model, data, held, held_data, solved)

    return call


def breakdown(linearizer: Linearizer, state: State, tau: Array, rounds: int) -> dict[str, float]:
    """Return the time [us] of the parts, each by itself."""
    workspace = linearizer.workspace
    C = linearizer(state, tau)
    C.geometry, C.dropped  # noqa: B018
    R = reduce(C)
    times = interleaved_medians(
        {
            'kernel': workspace.bind(state.data, tau, workspace.spare.out),
            'call': partial(linearizer, state, tau),
            'J, M, rank': lambda: linearizer(state, tau).geometry,
            'reduced pair of these': partial(reduce, C, previous=R),
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
        constrained = f'{len(contacts)} {contacts[0].kind}' + 's' * (len(contacts) > 1)
        ours, peer = partial(linearizer, state, tau), pinocchio_call(pair, contacts, *theirs)
        what = f'{pair.name}, {constrained}'
        rows.append(compare(WHAT, what, ours, PEER, peer, rounds, LIMIT))
        if detail:
            for name, time in breakdown(linearizer, state, tau, max(20, rounds // 5)).items():
                print(f'    {name:40} {time:9.1f} us')
    return [*rows, *redundant(rounds), *loops(rounds)]


def redundant(rounds: int) -> list[Row]:
    """Compare a quadruped with four flat feet: 24 rows of rank 18 or less."""
    rows: list[Row] = []
    for path in paths([REDUNDANT_ROBOT]):
        pair = read(path)
        if pair is None:
            continue
        contacts = [Contact(contact.frame, 'surface') for contact in STANDING[pair.name]]
        (state, tau), theirs = pair.operating_point(np.random.default_rng(1))
        ours = partial(Linearizer(pair.model, contacts), state, tau)
        peer = pinocchio_call(pair, contacts, *theirs, pin.ProximalSettings(1e-12, 1e-6, 20))
        what = f'{pair.name}, {len(contacts)} surfaces'
        rows.append(compare(REDUNDANT, what, ours, PEER, peer, rounds))
    return rows


def loops(rounds: int) -> list[Row]:
    """Compare a quadruped whose feet are joined pairwise."""
    rows: list[Row] = []
    for path in paths([LOOP_ROBOT]):
        pair = read(path)
        if pair is None:
            continue
        (state, tau), theirs = pair.operating_point(np.random.default_rng(1))
        for kind in get_args(ContactKind):
            joined = [Loop(*frames, kind) for frames in LOOPS]
            ours = partial(Linearizer(pair.model, joined), state, tau)
            peer = pinocchio_call(pair, joined, *theirs)
            what = f'{pair.name}, {len(joined)} {kind}s'
            rows.append(compare(LOOP_WHAT, what, ours, PEER, peer, rounds, LIMIT))
    return rows


if __name__ == '__main__':
    measure(200, detail=True)
