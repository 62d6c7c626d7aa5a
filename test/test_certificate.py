# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A right linearization passes the check in every form, and a wrong entry never does."""

import dataclasses
import itertools
import subprocess
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from scipy.linalg import expm
from support.light_robots import standing
from support.robots import example_robot, read_robot
from support.states import seen_from
from support.trees import every_kind_description

from geolin_ros import Linearizer, TreeModel, Wrench, robots
from geolin_ros.errors import UnsolvableError
from geolin_ros.linearization.contacts import Contact, Loop, anchored
from geolin_ros.linearization.discretization import Discretization, Method
from geolin_ros.spatial.frames import Representation
from geolin_ros.verification.certificate import Certifier, Claim, Form

ROOT = Path(__file__).parents[1]
METHODS = ('none', *get_args(Method))
REFERENCES = ('moving', 'frozen')
REPRESENTATIONS = get_args(Representation)
FORMS = [
    Form(reference, representation, method, 0.0 if method == 'none' else 0.002)
    for method, reference, representation in itertools.product(
        METHODS, REFERENCES, REPRESENTATIONS
    )
]


def claim_of(model: TreeModel, form: Form, seed: int, wrenches=(), contacts=()) -> Claim:
    rng = np.random.default_rng(seed)
    state = model.random_state(rng)
    if model.base == 'fixed':
        state.v[:] = 0.0
    tau = rng.uniform(-10.0, 10.0, model.n)
    if any(contact.kp for contact in contacts):
        contacts = anchored(model, model.random_state(rng), contacts)
    linearizer = Linearizer(model, contacts)
    if form.method == 'none':
        result = seen_from(linearizer(state, tau, wrenches=wrenches), form.reference)
    else:
        result = linearizer.discretize(
            state, tau, form.dt, method=form.method, reference=form.reference, wrenches=wrenches
        )
    result = result.in_representation(form.representation)
    A, B = (
        (result.Phi, result.Gamma) if isinstance(result, Discretization) else (result.A, result.B)
    )
    return Claim(state, tau, A.copy(), B.copy(), result.nu_dot.copy(), wrenches, tuple(contacts))


@pytest.mark.parametrize(
    'form', FORMS, ids=lambda f: f'{f.method}-{f.reference}-{f.representation}'
)
def test_certificate__of_a_right_linearization(form: Form) -> None:
    model = TreeModel.from_urdf(robots.path('quadruped'))
    certifier = Certifier(model, form, np.random.default_rng(1))
    found = certifier.check(claim_of(model, form, 7))
    assert not found.failed
    assert found.deviation < 1e-10, found.worst
    assert 1.0 < found.condition < 1e6


@pytest.mark.parametrize('method', ['none', 'midpoint', 'zoh', 'rkmk4'])
@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_one_wrong_entry__is_always_found(method, base) -> None:
    """One entry off by 1e-6 of the largest of its block, every time another one."""
    model = TreeModel.from_urdf(robots.path('quadruped'), base=base)
    form = Form('moving', 'body', method, 0.002)
    certifier = Certifier(model, form, np.random.default_rng(2))
    claim = claim_of(model, form, 8)
    rng = np.random.default_rng(3)
    assert not certifier.check(claim).failed
    for _ in range(20):
        matrix = claim.B if rng.uniform() < 0.2 else claim.A
        i, j = (int(rng.integers(size)) for size in matrix.shape)
        rows = next(block for block in certifier._rows.values() if block.start <= i < block.stop)
        columns = slice(0, matrix.shape[1])
        if matrix is claim.A:
            columns = next(
                block for block in certifier._rows.values() if block.start <= j < block.stop
            )
        largest = np.abs(matrix[rows, columns]).max()
        if largest == 0.0:
            continue
        right = matrix[i, j]
        matrix[i, j] += 1e-6 * largest
        assert certifier.check(claim).failed
        matrix[i, j] = right


def test_zoh_of_wrong_a_and_b__is_found() -> None:
    """The certifier makes A and B of its own: their exponential is no proof of itself."""
    model = TreeModel.from_urdf(robots.path('quadruped'))
    claim = claim_of(model, Form(), 14)
    certifier = Certifier(model, Form('moving', 'body', 'zoh', 0.002), np.random.default_rng(9))
    block = claim.A[model.m : model.m + 6, 6 : model.m]
    for wrong in (0.0, 1e-3 * np.abs(block).max()):
        block[2, 3] += wrong
        made = expm(0.002 * np.block([[claim.A, claim.B], [np.zeros((12, 48))]]))
        found = certifier.check(claim._replace(A=made[:36, :36], B=made[:36, 36:]))
        assert found.failed == bool(wrong)
        assert not wrong or found.worst == 'v by s'


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('method', METHODS)
def test_joints_of_every_kind_with_friction__pass(method, base) -> None:
    description = every_kind_description(np.random.default_rng(15), damping=0.5)
    rough = [dataclasses.replace(joint, friction=0.5) for joint in description.joints]
    description = dataclasses.replace(description, joints=tuple(rough))
    model = TreeModel.from_description(description, base=base, coulomb_friction=True)
    form = Form('frozen' if base == 'fixed' else 'moving', 'body', method, 0.002)
    found = Certifier(model, form).check(claim_of(model, form, 16))
    assert not found.failed, found
    assert found.deviation < 1e-9


def test_certificate__knows_wrenches_and_not_a_number() -> None:
    model = TreeModel.from_urdf(robots.path('humanoid'))
    link = model.link_names[-1]
    wrenches = [Wrench(link, (1.0, 2.0, 300.0), (0.1, 0.2, 0.3), kind='world_oriented')]
    claim = claim_of(model, Form(), 9, wrenches)
    certifier = Certifier(model, Form(), np.random.default_rng(4))
    assert certifier.check(claim).deviation < 1e-8
    assert certifier.check(claim._replace(wrenches=())).failed
    claim.A[20, 3] = np.nan
    assert certifier.check(claim).failed


@pytest.mark.parametrize('name', ['talos_reduced', 'iris_simple'])
def test_real_robots__pass_however_fast_they_move(name) -> None:
    model = read_robot(example_robot(name))[1]
    certifier = Certifier(model, Form(), np.random.default_rng(8))
    for speed in (1.0, 30.0):
        claim = claim_of(model, Form(), 13)
        claim.state.v[:] *= speed
        claim.state.r[:] *= speed
        L = Linearizer(model)(claim.state, claim.tau)
        found = certifier.check(claim._replace(A=L.A, B=L.B, nu_dot=L.nu_dot))
        assert not found.failed, found


LEGS = ('FL', 'FR', 'RL', 'RR')
HELD = {
    'points': ('quadruped', [Contact(f'{leg}_foot') for leg in LEGS]),
    'soft points': (
        'quadruped',
        [Contact(f'{leg}_foot', 'point', kp=100.0, kd=20.0) for leg in LEGS],
    ),
    'point loop': (
        'quadruped',
        [Contact('FL_foot'), Loop('FR_foot', 'RL_foot', 'point', kp=9.0, kd=3.0)],
    ),
    'surface loop': ('humanoid', [Loop('left_hand', 'right_hand', 'surface', kp=9.0, kd=3.0)]),
}


@pytest.mark.parametrize('held', HELD)
@pytest.mark.parametrize(
    'form',
    [
        Form(),
        Form('frozen', 'mixed', 'midpoint', 0.002),
        Form('frozen', 'mixed', 'zoh', 0.002),
        Form('moving', 'inertial', 'rkmk4', 0.002),
    ],
    ids=lambda form: form.method,
)
def test_contacts__are_known_and_a_wrong_entry_is_found(held, form: Form) -> None:
    """Against the rows of `verification.accelerations`, unknown to `linearization.contacts`."""
    robot, contacts = HELD[held]
    model = TreeModel.from_urdf(robots.path(robot))
    certifier = Certifier(model, form, np.random.default_rng(6))
    claim = claim_of(model, form, 11, contacts=contacts)
    found = certifier.check(claim)
    assert found.deviation < 1e-9, found
    assert certifier.check(claim._replace(contacts=())).failed
    block = claim.A[model.m : model.m + 6, 6 : model.m]
    block[2, 3] += 1e-3 * np.abs(block).max()
    assert certifier.check(claim).failed


@pytest.mark.parametrize('joints', [1, 3, 6])
@pytest.mark.parametrize('mass', [1e-4, 1e-9])
def test_wrong_entries_beside_light_feet_on_the_ground__are_found(mass, joints) -> None:
    """What a foot weighs does not count where its sole holds it: the limit stays as it is."""
    model = TreeModel.from_description(standing(mass, joints))
    claim = claim_of(model, Form(), 0, contacts=(Contact(f'leg0_{joints - 1}', 'surface'),))
    certifier = Certifier(model, Form())
    found = certifier.check(claim)
    assert found.deviation < 1e-10, found
    assert found.limit < 1e-7
    J = Linearizer(model, claim.contacts)(claim.state, claim.tau).J
    B = claim.B.copy()
    B[model.m :] += 5e-8 * np.abs(B).max() * J.T[:, :1]
    found = certifier.check(claim._replace(B=B))
    assert found.failed
    assert found.worst.endswith('by tau')
    claim.A[model.m + 1, 7] += 1e-6 * np.abs(claim.A[model.m : model.m + 6, 6 : model.m]).max()
    found = certifier.check(claim)
    assert found.failed
    assert found.worst == 'v by s'


def test_redundant_contacts__are_refused_in_words() -> None:
    model = TreeModel.from_urdf(robots.path('humanoid'))
    contacts = [Contact('left_sole', 'surface'), Contact('left_foot', 'surface')]
    claim = claim_of(model, Form(), 12, contacts=contacts)
    with pytest.raises(UnsolvableError, match="robot 'humanoid' depend on each other"):
        Certifier(model, Form()).check(claim)


PLANTED = (
    'record[T : T',
    'bodies[1:, COORDINATE]',
    'cos * ey - sin',
    'record[DAMPING]',
    'tree.armature[c]',
    'turned_wrench',
)


def test_planted_errors__are_found() -> None:
    """Of packing, placements and passes; ``make planted-errors`` runs all of them."""
    command = [sys.executable, str(ROOT / 'tools' / 'planted_errors.py'), *PLANTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f'{len(PLANTED) + 1} of {len(PLANTED) + 1} planted errors found' in done.stdout
