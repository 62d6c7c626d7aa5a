# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.linalg import expm
from support.close import assert_close
from support.finite_difference import ad, derivative_by_vector, hat, vee

from geolin_ros.errors import InputError, ShapeError
from geolin_ros.spatial import se3

SMALL = (0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-5, 1e-3, 0.1)
MIDDLE = (0.4, 0.4999999, 0.5, 0.5000001, 1.0, 2.0, 3.0)
NEAR_PI = tuple(np.pi - gap for gap in (1e-3, 1e-6, 1e-9, 1e-12, 1e-15))
BEYOND_PI = (3.5, 5.0, 6.0)
ANGLES = (*SMALL, *MIDDLE, *NEAR_PI)


def twists(angles, count=4, seed=0):
    """Yield twists with rotations of the given angles about random and main axes."""
    rng = np.random.default_rng(seed)
    for angle in angles:
        for axis in (*np.eye(3), *-np.eye(3), *rng.normal(size=(count, 3))):
            w = angle * axis / np.linalg.norm(axis)
            yield np.concatenate((rng.uniform(-1.0, 1.0, 3), w))


def integral_of_exp(matrix):
    """Return the integral of exp(t matrix) over [0, 1], as a block of one exponential."""
    size = matrix.shape[0]
    augmented = np.block([[matrix, np.eye(size)], [np.zeros((size, 2 * size))]])
    return expm(augmented)[:size, size:]


@pytest.mark.shows('Kim 2012: Eqs. (1)-(13)')
@pytest.mark.parametrize('angle', [*ANGLES, *BEYOND_PI])
def test_exp__equals_the_matrix_exponential(angle):
    for z in twists([angle]):
        assert_close(se3.exp(z), expm(hat(z)), 1e-13)


@pytest.mark.parametrize('angle', ANGLES)
def test_log__returns_what_exp_took(angle):
    for z in twists([angle]):
        assert_close(se3.log(se3.exp(z)), z, 1e-12, scale=1.0)


@pytest.mark.parametrize('angle', SMALL[1:])
def test_log__keeps_the_digits_of_small_rotations(angle):
    for z in twists([angle]):
        assert_close(se3.log(se3.exp(z))[3:], z[3:], 1e-14)


def test_log__at_pi_is_a_turn_about_either_end_of_the_axis_and_beyond_it_the_short_way():
    for z in twists((np.pi, *BEYOND_PI), count=20):
        found, angle = se3.log(se3.exp(z)), np.linalg.norm(z[3:])
        turned = np.linalg.norm(found[3:])
        assert_close(turned, min(angle, 2.0 * np.pi - angle), 1e-12)
        assert_close(se3.exp(found), se3.exp(z), 1e-12)


@pytest.mark.parametrize('angle', [*ANGLES, *BEYOND_PI])
def test_jacobians__equal_the_integral_of_the_adjoint(angle):
    for z in twists([angle]):
        left, right = integral_of_exp(ad(z)), integral_of_exp(-ad(z))
        assert_close(se3.left_jacobian(z), left, 1e-13)
        assert_close(se3.right_jacobian(z), right, 1e-13)
        scale = np.linalg.cond(left)
        assert_close(se3.left_jacobian_inverse(z), np.linalg.inv(left), 1e-13 * scale)
        assert_close(se3.right_jacobian_inverse(z), np.linalg.inv(right), 1e-13 * scale)
        assert_close(se3.right_jacobian_inverse(z) @ right, np.eye(6), 1e-13 * scale)


@pytest.mark.shows('Traversaro 2019: Eq. (9)')
def test_jacobians__are_derivatives_of_exp():
    for z in twists((0.3, 2.0)):
        H = se3.exp(z)

        def left(dz, z=z, H=H):
            return vee((expm(hat(z + dz)) - H) @ np.linalg.inv(H))

        def right(dz, z=z, H=H):
            return vee(np.linalg.inv(H) @ (expm(hat(z + dz)) - H))

        assert_close(se3.left_jacobian(z), derivative_by_vector(left, np.zeros(6)), 1e-10)
        assert_close(se3.right_jacobian(z), derivative_by_vector(right, np.zeros(6)), 1e-10)


@pytest.mark.shows('Kim 2012: Eqs. (1)-(13)')
def test_adjoint__is_a_homomorphism_and_belongs_to_exp():
    for z, y in zip(twists(MIDDLE, seed=1), twists(MIDDLE, seed=2), strict=True):
        H, G = se3.exp(z), se3.exp(y)
        assert_close(se3.adjoint(H @ G), se3.adjoint(H) @ se3.adjoint(G), 1e-13)
        assert_close(se3.adjoint(se3.inverse(H)) @ se3.adjoint(H), np.eye(6), 1e-13)
        assert_close(se3.inverse(H) @ H, np.eye(4), 1e-14)
        assert_close(se3.adjoint_of_exp(z), se3.adjoint(H), 1e-13)
        assert_close(se3.adjoint_of_exp(z), expm(ad(z)), 1e-13)
        assert_close(hat(se3.adjoint(H) @ y), H @ hat(y) @ np.linalg.inv(H), 1e-13)
        assert_close(se3.cross(z), ad(z), 0.0)


@pytest.mark.shows('Kim 2012: Eqs. (1)-(13)')
def test_se3__has_pinocchios_conventions():
    pin = pytest.importorskip('pinocchio')
    for z in twists((*MIDDLE, 3.1)):
        H = pin.exp6(pin.Motion(z))
        assert_close(se3.exp(z), H.homogeneous, 1e-13)
        assert_close(se3.adjoint(H.homogeneous), H.toActionMatrix(), 1e-14)
        assert_close(se3.log(H.homogeneous), pin.log6(H).vector, 1e-11)
        assert_close(se3.right_jacobian(z), pin.Jexp6(pin.Motion(z)), 1e-12)
        assert_close(se3.right_jacobian_inverse(z), pin.Jlog6(H), 1e-11)
        quaternion = pin.Quaternion(H.rotation).coeffs()
        ours = se3.quaternion_from_rotation(H.rotation)
        assert_close(ours, np.copysign(1.0, quaternion[3]) * quaternion, 1e-13)


@pytest.mark.parametrize('angle', [*ANGLES, *BEYOND_PI])
def test_quaternion__goes_to_a_rotation_and_back(angle):
    for z in twists([angle]):
        R = se3.exp(z)[:3, :3]
        quaternion = se3.quaternion_from_rotation(R)
        assert quaternion[3] >= 0.0
        assert_close(np.linalg.norm(quaternion), 1.0, 1e-15)
        assert_close(se3.rotation_from_quaternion(quaternion), R, 1e-14)


@pytest.mark.parametrize('length', [1e-200, 0.5, 1e200])
def test_rotation_from_quaternion__does_not_ask_for_unit_length(length):
    quaternion = np.array([0.1, -0.7, 0.3, 0.2])
    R = se3.rotation_from_quaternion(length * quaternion)
    assert_close(R, se3.rotation_from_quaternion(quaternion), 1e-14)
    assert_close(R @ R.T, np.eye(3), 1e-15)
    assert_close(np.linalg.det(R), 1.0, 1e-15)


@pytest.mark.parametrize('quaternion', [np.zeros(4), (0.0, np.nan, 0.0, 1.0), (np.inf, 0, 0, 1)])
def test_rotation_from_quaternion__without_direction_raises(quaternion):
    with pytest.raises(InputError, match='no direction'):
        se3.rotation_from_quaternion(quaternion)


def test_wrong_sizes__raise():
    for function, argument in (
        (se3.exp, np.zeros(5)),
        (se3.log, np.eye(3)),
        (se3.adjoint, np.zeros((4, 3))),
        (se3.right_jacobian, np.zeros((6, 1))),
        (se3.rotation_from_quaternion, np.zeros(3)),
        (se3.quaternion_from_rotation, np.eye(4)),
    ):
        with pytest.raises(ShapeError, match='expected'):
            function(argument)
