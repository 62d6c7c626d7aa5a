# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Velocity representations against iDynTree, from the authors of [Traversaro 2019].

It is no dependency; `pip install idyntree` adds these tests.
"""

import numpy as np
import pytest
from support.close import assert_close

from geolin_ros import TreeModel, robots
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.dynamics.momentum import centroidal, equations_of_motion

bindings = pytest.importorskip('idyntree').bindings

REPRESENTATIONS = {
    'body': bindings.BODY_FIXED_REPRESENTATION,
    'inertial': bindings.INERTIAL_FIXED_REPRESENTATION,
    'mixed': bindings.MIXED_REPRESENTATION,
}


class Case:
    """The quadruped at a random motion, and iDynTree at the same in one representation."""

    def __init__(self, name):
        self.name = name
        self.model = TreeModel.from_urdf(robots.path('quadruped'))
        self.state = self.model.random_state(np.random.default_rng(5), speed=2.0)
        self.at = Kinematics(self.model, self.state)
        loader = bindings.ModelLoader()
        path = str(robots.path('quadruped'))
        assert loader.loadReducedModelFromFile(path, list(self.model.joint_names))
        self.computations = bindings.KinDynComputations()
        assert self.computations.loadRobotModel(loader.model())
        assert self.computations.setFloatingBase(self.model.base_link)
        assert self.computations.setFrameVelocityRepresentation(REPRESENTATIONS[name])
        base_twist = self.at.velocity(name)[:6]
        assert self.computations.setRobotState(
            self.state.H, self.state.s, base_twist, self.state.r, self.model.gravity
        )
        self.links = self.model.link_names[::3]

    def matrix(self, fill, *arguments, rows=6):
        M = bindings.MatrixDynSize(rows, self.model.m)
        assert fill(*arguments, M)
        return M.toNumPy()

    def forces(self, fill):
        found = bindings.FreeFloatingGeneralizedTorques(self.computations.model())
        assert fill(found)
        return np.concatenate((found.baseWrench().toNumPy(), found.jointTorques().toNumPy()))


@pytest.fixture(scope='module', params=REPRESENTATIONS)
def case(request):
    return Case(request.param)


@pytest.mark.shows('Traversaro 2019: Eqs. (75)')
def test_twists_and_jacobians__are_idyntrees(case):
    for link in case.links:
        twist = case.computations.getFrameVel(link).toNumPy()
        assert_close(case.at.twist(link, expressed_in=case.name), twist, 1e-12, link)
        J = case.matrix(case.computations.getFrameFreeFloatingJacobian, link)
        found = case.at.jacobian(link, expressed_in=case.name, base=case.name)
        assert_close(found, J, 1e-12, link)


@pytest.mark.shows('Traversaro 2019: - bias acceleration Jdot nu')
def test_bias_accelerations__are_idyntrees(case):
    for link in case.links:
        expected = case.computations.getFrameBiasAcc(link).toNumPy()
        found = case.at.bias_acceleration(link, expressed_in=case.name, base=case.name)
        assert_close(found, expected, 1e-11, link, scale=1.0)


@pytest.mark.shows('Traversaro 2019: Eq. (80)')
def test_equations__are_idyntrees(case):
    eom = equations_of_motion(case.model, case.state, case.name)
    M = case.matrix(case.computations.getFreeFloatingMassMatrix, rows=case.model.m)
    assert_close(eom.M, M, 1e-12)
    h = case.forces(case.computations.generalizedBiasForces)
    assert_close(eom.C @ eom.nu + eom.G, h, 1e-12)
    assert_close(eom.G, case.forces(case.computations.generalizedGravityForces), 1e-12)


def test_centroidal_momentum__is_idyntrees(case):
    found = centroidal(case.model, case.state, case.name)
    A = case.matrix(case.computations.getCentroidalTotalMomentumJacobian)
    if case.name == 'body':  # its G has the axes of the base then
        A = np.kron(np.eye(2), case.state.H[:3, :3]) @ A
    assert_close(found.A, A, 1e-12)
    assert_close(found.com, case.computations.getCenterOfMassPosition().toNumPy(), 1e-13)
