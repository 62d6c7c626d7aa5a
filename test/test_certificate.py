# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A right linearization passes the check in every form, and a wrong entry never does."""

import itertools
import re
from typing import get_args

import numpy as np
import pytest

from geolin_ros import Linearizer, TreeModel, Wrench, robots
from geolin_ros.certificate import Certifier, Claim, Form
from geolin_ros.discretization import Discretization, Method
from geolin_ros.frames import Representation
from geolin_ros.representation import convert

REFERENCES = ('moving', 'frozen')
REPRESENTATIONS = get_args(Representation)
FORMS = [
    Form(reference, representation, method, 0.0 if method == 'none' else 0.002)
    for method, reference, representation in itertools.product(
        ('none', *get_args(Method)), REFERENCES, REPRESENTATIONS
    )
]


def claim_of(model: TreeModel, form: Form, seed: int, wrenches=()) -> Claim:
    rng = np.random.default_rng(seed)
    state = model.random_state(rng)
    if model.base == 'fixed':
        state.v[:] = 0.0
    tau = rng.uniform(-10.0, 10.0, model.n)
    linearizer = Linearizer(model)
    if form.method == 'none':
        result = linearizer(state, tau, form.reference, wrenches)
    else:
        result = linearizer.discretize(state, tau, form.dt, form.method, form.reference, wrenches)
    result = convert(result, state, form.representation)
    A, B = (
        (result.Phi, result.Gamma) if isinstance(result, Discretization) else (result.A, result.B)
    )
    return Claim(state, tau, A.copy(), B.copy(), result.nu_dot.copy(), wrenches)


@pytest.mark.parametrize(
    'form', FORMS, ids=lambda f: f'{f.method}-{f.reference}-{f.representation}'
)
def test_certificate__of_a_right_linearization(form: Form) -> None:
    model = TreeModel.from_urdf(robots.path('quadruped'))
    certifier = Certifier(model, form, np.random.default_rng(1))
    found = certifier.check(claim_of(model, form, 7))
    assert not found.breached
    assert found.deviation < 3e-9, found.worst
    assert 1.0 < found.condition < 1e6


@pytest.mark.parametrize('form', [FORMS[0], FORMS[6]], ids=['continuous', 'discrete'])
@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_one_wrong_entry__is_always_found(form: Form, base) -> None:
    """One entry off by 1e-3 of the largest of its block, every time another one."""
    model = TreeModel.from_urdf(robots.path('quadruped'), base=base)
    form = Form() if form.method == 'none' else Form('moving', 'body', 'midpoint', 0.002)
    certifier = Certifier(model, form, np.random.default_rng(2))
    claim = claim_of(model, form, 8)
    rng = np.random.default_rng(3)
    assert not certifier.check(claim).breached
    for _ in range(20):
        matrix = claim.B if rng.uniform() < 0.2 else claim.A
        i, j = (int(rng.integers(size)) for size in matrix.shape)
        rows = next(block for block in certifier._blocks.values() if block.start <= i < block.stop)
        columns = slice(0, matrix.shape[1])
        if matrix is claim.A:
            columns = next(
                block for block in certifier._blocks.values() if block.start <= j < block.stop
            )
        largest = np.abs(matrix[rows, columns]).max()
        if largest == 0.0:
            continue
        right = matrix[i, j]
        matrix[i, j] += 1e-3 * largest
        assert certifier.check(claim).breached
        matrix[i, j] = right


def test_certificate__knows_wrenches_and_not_a_number() -> None:
    model = TreeModel.from_urdf(robots.path('humanoid'))
    link = model.link_names[-1]
    wrenches = [Wrench(link, (1.0, 2.0, 300.0), (0.1, 0.2, 0.3), kind='world_oriented')]
    claim = claim_of(model, Form(), 9, wrenches)
    certifier = Certifier(model, Form(), np.random.default_rng(4))
    assert certifier.check(claim).deviation < 1e-8
    assert certifier.check(claim._replace(wrenches=())).breached
    claim.A[20, 3] = np.nan
    assert certifier.check(claim).breached


def test_certificate__follows_smoothed_friction() -> None:
    rough = re.sub(r'friction="[^"]*"', 'friction="0.5"', robots.path('quadruped').read_text())
    model = TreeModel.from_urdf(rough, coulomb_friction=True)
    assert np.all(model.tree.friction > 0.0)
    claim = claim_of(model, Form(), 10)
    claim.state.r[:] *= 1e-3  # inside the smoothed part
    L = Linearizer(model)(claim.state, claim.tau)
    claim = claim._replace(A=L.A, B=L.B, nu_dot=L.nu_dot)
    assert not Certifier(model, Form(), np.random.default_rng(5)).check(claim).breached
