# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo's checks pass on what is right, and fail on what is a little wrong."""

import dataclasses
import re

import numpy as np
import pytest
from geolin_demos.demo import checks
from geolin_demos.demo.checks import (
    check_accelerations,
    check_answered,
    check_linearizations,
    referee_for,
)
from geolin_demos.demo.flight import Flight
from support.strangers import BIPED

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.errors import ModelError

PERIOD = 2_000_000


@pytest.fixture(scope='module')
def model():
    return TreeModel.from_urdf(robots.path('quadruped'))


@dataclasses.dataclass(frozen=True)
class Received:
    """What the checks read of a `ReceivedLinearization`."""

    state: object
    tau: np.ndarray
    A: np.ndarray
    B: np.ndarray
    nu_dot: np.ndarray
    joint_names: tuple
    gravity: np.ndarray


def received_of(model, state, tau):
    L = Linearizer(model)(state, tau)
    return Received(
        state, tau, L.A.copy(), L.B.copy(), L.nu_dot.copy(), model.joint_names, model.gravity
    )


@pytest.fixture(scope='module')
def operation(model):
    flight = Flight(model)
    flight.advance(0.4)
    return received_of(model, flight.state, flight.tau)


@pytest.fixture(scope='module')
def motion(model):
    """Three seconds of flight: stamps, nu, nu_dot."""
    flight, linearizer = Flight(model), Linearizer(model)
    nu, nu_dot = [], []
    for _ in range(1600):
        flight.advance(PERIOD * 1e-9)
        state = flight.state
        nu.append(np.concatenate((state.v, state.r)))
        nu_dot.append(linearizer.forward_dynamics(state, flight.tau))
    stamps = 1_700_000_000_000_000_000 + PERIOD * np.arange(1600, dtype=np.int64)
    return stamps, np.array(nu), np.array(nu_dot)


# ---- A and B


@pytest.fixture(scope='module')
def referee(operation):
    return referee_for(robots.path('quadruped').read_text(), operation)


def test_referee__judges_an_mjcf_file(tmp_path):
    pytest.importorskip('mujoco')
    file, rng = tmp_path / 'biped.xml', np.random.default_rng(4)
    file.write_text(BIPED)
    model = TreeModel.from_mjcf(file)
    received = received_of(model, model.random_state(rng), rng.normal(size=model.n))
    verdict = check_linearizations([received], referee_for(file, received))
    assert verdict.passed, verdict


def test_referee__refuses_linearizations_of_another_robot(operation):
    other = dataclasses.replace(operation, joint_names=operation.joint_names[::-1])
    with pytest.raises(ModelError, match="expected those of robot 'quadruped'"):
        referee_for(robots.path('quadruped').read_text(), other)


def test_linearizations__pass(referee, operation):
    verdict = check_linearizations([operation], referee)
    assert verdict.passed, verdict
    assert not check_linearizations([], referee).passed


@pytest.mark.parametrize('factor', [1.0 + 1e-5, np.nan])
@pytest.mark.parametrize('matrix', ['A', 'B', 'nu_dot'])
def test_linearizations__fail_for_one_state_off_by_a_hundred_thousandth_or_nan(
    referee, operation, matrix, factor
):
    wrong = getattr(operation, matrix) * factor
    spoilt = dataclasses.replace(operation, **{matrix: wrong})
    verdict = check_linearizations([operation, spoilt], referee)
    assert not verdict.passed
    assert str(verdict).startswith('FAIL')


# ---- accelerations


def check(motion, nu_dot=None, keep=slice(None)):
    stamps, nu, right = motion
    nu_dot = right if nu_dot is None else nu_dot
    return check_accelerations(stamps[keep], nu[keep], nu_dot[keep])


def test_accelerations__pass_in_spite_of_two_throws(motion):
    verdict = check(motion)
    assert verdict.passed, verdict
    assert float(re.search(r'deviation ([\d.]+)%', verdict.text)[1]) < 0.5


@pytest.mark.parametrize(('group', 'part'), checks.GROUPS)
def test_accelerations__fail_where_a_group_is_five_percent_off(motion, group, part):
    nu_dot = motion[2].copy()
    nu_dot[:, part] *= 1.05
    verdict = check(motion, nu_dot)
    assert not verdict.passed
    assert f'({group}; ' in verdict.text


def nan_in_one(nu_dot):
    nu_dot[700, 0] = np.nan
    return nu_dot


@pytest.mark.parametrize(
    'change',
    [
        lambda found: {'nu_dot': np.roll(found, 8, axis=0)},
        lambda found: {'nu_dot': nan_in_one(found)},
        lambda found: {'keep': slice(0, 0)},
        lambda found: {'keep': slice(0, 2)},
    ],
    ids=['of other stamps', 'NaN', 'none', 'of nothing'],
)
def test_accelerations__fail_where_they_cannot_be_right(motion, change):
    assert not check(motion, **change(motion[2].copy())).passed


def test_accelerations__leave_out_lost_samples(motion):
    keep = np.ones(1600, dtype=bool)
    keep[50::20] = keep[51::20] = False
    verdict = check(motion, keep=keep)
    assert verdict.passed, verdict
    assert ' at 1286 of 1444 states' in verdict.text


# ---- answers


def test_answered__counts_from_the_first_answer_to_something_up_to_95_percent(monkeypatch):
    stamps, none = np.arange(1000, dtype=np.int64), np.zeros(0, dtype=np.int64)
    assert check_answered(stamps, stamps[:950]).passed
    for load, says in ((1e3, True), (0.0, False)):
        monkeypatch.setattr('os.getloadavg', lambda load=load: (load, 0.0, 0.0))
        verdict = check_answered(stamps, stamps[:949])
        assert not verdict.passed
        assert ('is busy (load 1000.0' in verdict.text) == says
    verdict = check_answered(stamps, stamps[500:])
    assert verdict.passed
    assert '500 of 500' in verdict.text
    for asked, answered in (
        (2 * stamps, 2 * stamps + 1),
        (stamps, none),
        (none, stamps),
        (none, none),
    ):
        assert not check_answered(asked, answered).passed
