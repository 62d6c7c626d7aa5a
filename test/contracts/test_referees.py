# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every public function and class of the dynamics has two referees, each named with its test."""

import ast
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
FILES = {path: path.read_text(encoding='utf-8') for path in TESTS.glob('**/test_*.py')}
MODULES = (
    'geolin_ros.dynamics.functions',
    'geolin_ros.dynamics.derivatives',
    'geolin_ros.dynamics.variation',
    'geolin_ros.dynamics.constraints',
    'geolin_ros.estimation.sparse',
    'geolin_ros.spatial.frames',
    'geolin_ros.dynamics.kinematics.Kinematics',
    'geolin_ros.dynamics.equations_of_motion',
    'geolin_ros.dynamics.momentum',
    'geolin_ros.linearization.representation',
    'geolin_papers.consistency',
    'geolin_papers.lie_groups',
    'geolin_papers.trajectory',
    'geolin_ros.dynamics.batch',
    'geolin_ros.linearization.constrained_dynamics',
    'geolin_ros.linearization.contacts',
    'geolin_ros.linearization.contacts.rows',
    'geolin_ros.linearization.reduction',
    'geolin_ros',
)
IMPORTED = {
    'Pinocchio': r'pinocchio',
    'MuJoCo': r'mujoco',
    'iDynTree': r'idyntree',
    'dense': r'dense_reference|constrained_reference|several_axes|kim_tables',
    'differences': r'finite_difference|derivative_by_vector',
    'SciPy': r'scipy',
    'by hand': r'by_hand|system\.derivatives|eliminate_and_weigh|pencil',
}
"""Referees, and what a file uses that asks them.

None uses the algorithms of the package: 'dense' is textbook NumPy, by matrices, and for
`*_variation` the printed tables of [Kim 2012]; 'differences' are of that, of another program, or
of what a function is the derivative of; 'by hand' is a formula in the test itself. Agreement of
two of our own functions is tested too, and not counted.
"""

REFEREES = """
geolin_ros.dynamics.functions
inverse_dynamics
    Pinocchio: inverse_dynamics__equals_rnea
    dense: inverse_dynamics__equals_dense_dynamics_with_wrenches
    MuJoCo: forward_and_inverse_dynamics__equal_mujoco
forward_dynamics
    Pinocchio: forward_dynamics__equals_aba
    dense: forward_dynamics__equals_dense_dynamics_with_wrenches
    MuJoCo: forward_and_inverse_dynamics__equal_mujoco
hybrid_dynamics
    Pinocchio: hybrid_dynamics__completes_the_motion_of_pinocchio
    dense: hybrid_dynamics__equals_dense_blocks
mass_matrix
    Pinocchio: mass_matrix__equals_crba_and_dense
    dense: mass_matrix__equals_crba_and_dense
mass_matrix_inverse
    Pinocchio: mass_matrix_inverse__equals_compute_minverse
    dense: mass_matrix_inverse__equals_compute_minverse
bias_force
    Pinocchio: inverse_dynamics__equals_rnea
    dense: inverse_dynamics__equals_dense_dynamics_with_wrenches

geolin_ros.dynamics.derivatives
inverse_dynamics_derivatives
    Pinocchio: derivatives__equal_pinocchio
    differences: inverse_dynamics_derivatives__equal_differences
forward_dynamics_derivatives
    Pinocchio: derivatives__equal_pinocchio
    differences: forward_dynamics_derivatives__equal_differences
hybrid_dynamics_derivatives
    Pinocchio: derivatives__equal_pinocchio
    differences: hybrid_dynamics_derivatives__equal_differences
inverse_dynamics_variation
    dense: inverse_dynamics_variation__equals_table_5
    differences: inverse_dynamics_variation__equals_differences_with_everything_moving
forward_dynamics_variation
    dense: forward_dynamics_variation__equals_table_6
    differences: forward_dynamics_variation__equals_differences_with_everything_moving
hybrid_dynamics_variation
    dense: hybrid_dynamics_variation__equals_table_7
    differences: hybrid_dynamics_variation__equals_differences_with_everything_moving
inverse_dynamics_regressor
    Pinocchio: regressor__equals_pinocchio
    dense: regressor__is_the_derivative_by_parameters
inertial_parameters
    Pinocchio: regressor__equals_pinocchio
    by hand: inertial_parameters__rebuild_the_inertias

geolin_ros.dynamics.variation
inertia_of_parameters
    by hand: inertial_parameters__rebuild_the_inertias
    Pinocchio: regressor__equals_pinocchio

geolin_ros.dynamics.constraints
inverse_dynamics
    Pinocchio: inverse_and_hybrid_dynamics__move_pinocchio_as_asked
    dense: everything_actuated__is_equations_65_and_66
forward_dynamics
    Pinocchio: forward_dynamics__equals_pinocchio
    dense: forward_dynamics__equals_the_dense_system
    MuJoCo: forward_dynamics__equals_mujoco_at_rest
hybrid_dynamics
    Pinocchio: inverse_and_hybrid_dynamics__move_pinocchio_as_asked
    dense: hybrid_dynamics__equals_the_dense_system

geolin_ros.estimation.sparse
inverse_dynamics, forward_dynamics, hybrid_dynamics, base_sensors, known
    Pinocchio: classical_dynamics__equal_pinocchio
    dense: joints_with_several_axes__equal_pinocchio_and_dense_dynamics
joint_torque, joint_acceleration
    Pinocchio: wrenches_torques_and_accelerations__are_read_as_pinocchio_has_them
    dense: joints_with_several_axes__equal_pinocchio_and_dense_dynamics
external_wrench
    Pinocchio: wrenches_torques_and_accelerations__are_read_as_pinocchio_has_them
    by hand: wrenches_torques_and_accelerations__are_read_as_pinocchio_has_them
all_external_wrenches
    Pinocchio: classical_dynamics__equal_pinocchio
    dense: joints_with_several_axes__equal_pinocchio_and_dense_dynamics
accelerometer, angular_acceleration
    Pinocchio: accelerometer__reads_the_proper_acceleration_of_the_point
    differences: sensors_of_motion__read_differences_of_poses
force_torque
    by hand: force_torque__reads_the_wrench_in_the_link
    Pinocchio: sensors_in_links__determine_what_a_fixed_base_does

geolin_ros.spatial.frames
twist
    Pinocchio: twists__are_pinocchios
    differences: twists__have_the_matrices_they_are_named_after
twist_map
    differences: maps__have_the_rates_of_equations_37_and_61
    dense: twist_map__is_the_adjoint_of_the_relative_pose
twist_map_rate
    differences: maps__have_the_rates_of_equations_37_and_61
    Pinocchio: jacobian_rates__are_pinocchios
wrench_map
    by hand: wrench_map__keeps_the_power
    differences: maps__have_the_rates_of_equations_37_and_61
wrench_map_rate
    differences: maps__have_the_rates_of_equations_37_and_61
    by hand: wrench_map__keeps_the_power
relative_twist
    differences: relative_twist__is_that_of_the_relative_pose
    Pinocchio: twists__are_pinocchios
mixed
    differences: mixed_frame__moves_with_the_origin_and_does_not_turn
    Pinocchio: twists__are_pinocchios
expression_frame
    Pinocchio: twists__are_pinocchios
    iDynTree: twists_and_jacobians__are_idyntrees
apparent_acceleration
    differences: apparent_acceleration__is_the_derivative_of_the_numbers
    Pinocchio: accelerations__are_pinocchios
intrinsic_acceleration
    Pinocchio: accelerations__are_pinocchios
    differences: intrinsic_acceleration__is_the_inertial_one_transformed
body_acceleration
    differences: accelerations__agree_in_body_and_world
    Pinocchio: accelerations__are_pinocchios

geolin_ros.dynamics.kinematics.Kinematics
frame
    Pinocchio: twists__are_pinocchios
    dense: every_link__is_where_the_dense_chain_rule_puts_it
pose
    Pinocchio: poses__are_pinocchios
    dense: every_link__is_where_the_dense_chain_rule_puts_it
twist
    Pinocchio: twists__are_pinocchios
    iDynTree: twists_and_jacobians__are_idyntrees
velocity
    iDynTree: twists_and_jacobians__are_idyntrees
    differences: acceleration__follows_the_rate_of_the_numbers_of_the_velocity
base_map
    iDynTree: twists_and_jacobians__are_idyntrees
    Pinocchio: doubly_mixed_jacobian__is_equation_75_by_hand
base_map_rate
    iDynTree: bias_accelerations__are_idyntrees
    differences: acceleration__follows_the_rate_of_the_numbers_of_the_velocity
jacobian
    Pinocchio: jacobians__are_pinocchios
    iDynTree: twists_and_jacobians__are_idyntrees
    dense: every_link__is_where_the_dense_chain_rule_puts_it
jacobian_rate
    Pinocchio: jacobian_rates__are_pinocchios
    differences: jacobian_rate__is_the_derivative_in_time
bias_acceleration
    iDynTree: bias_accelerations__are_idyntrees
    Pinocchio: accelerations__are_pinocchios
apparent_acceleration
    Pinocchio: accelerations__are_pinocchios
    differences: acceleration__follows_the_rate_of_the_numbers_of_the_velocity
intrinsic_acceleration
    Pinocchio: accelerations__are_pinocchios
    iDynTree: bias_accelerations__are_idyntrees
contact_frame
    Pinocchio: contact_jacobian__is_equation_81
    differences: contact_jacobian_rate__follows_the_rolling_contact

geolin_ros.dynamics.equations_of_motion
equations_of_motion
    Pinocchio: coriolis_matrix__is_pinocchios
    iDynTree: equations__are_idyntrees
    differences: power__changes_the_energy
spring_stretch
    differences: gravity_and_springs__are_the_derivative_of_the_potential_energy
    dense: equations_of_passive_joints__hold_under_a_wrench

geolin_ros.dynamics.momentum
centre_of_mass
    Pinocchio: com_jacobian__is_pinocchios_and_the_derivative
    differences: com_jacobian__is_pinocchios_and_the_derivative
centroidal
    Pinocchio: centroidal_momentum_matrix__is_pinocchios
    iDynTree: centroidal_momentum__is_idyntrees
    differences: its_rate__is_the_derivative_in_time
kinetic_energy, potential_energy
    Pinocchio: energies__are_pinocchios
    dense: energies_and_bias__are_those_of_dense_dynamics

geolin_ros.linearization.representation
sensitivity, spin_of
    Pinocchio: linearization__is_the_derivative_of_the_vector_field
    differences: linearization__is_the_derivative_of_the_vector_field
twist_from_body
    Pinocchio: twist__is_pinocchios
    differences: twist__means_what_its_name_says
twist_to_body
    Pinocchio: twist__transforms_like_pinocchios_jacobians
    differences: linearization__is_the_derivative_of_the_vector_field
displacement_from_body, displacement_to_body
    differences: displacement__is_the_derivative_of_the_change_of_numbers
    Pinocchio: linearization__is_the_derivative_of_the_vector_field

geolin_papers.consistency
required_effort
    Pinocchio: required_effort__is_pinocchios_inverse_dynamics
    dense: motions_of_given_accelerations__are_those_of_dense_dynamics
linearize_motion
    Pinocchio: inconsistent_linearization__is_that_under_a_constant_base_wrench
    dense: motions_of_given_accelerations__are_those_of_dense_dynamics

geolin_papers.lie_groups
linearize
    Pinocchio: robot__of_pinocchio_on_its_group_is_linearized_as_by_pinocchio
    by hand: example__differences_equal_exact_derivatives
derivative
    by hand: example__differences_equal_exact_derivatives
    Pinocchio: robot__of_pinocchio_on_its_group_is_linearized_as_by_pinocchio
euclidean, product
    SciPy: ad__is_the_bracket
    Pinocchio: robot__of_pinocchio_on_its_group_is_linearized_as_by_pinocchio

geolin_ros.estimation.sparse
DynamicsSolver
    Pinocchio: classical_dynamics__equal_pinocchio
    dense: joints_with_several_axes__equal_pinocchio_and_dense_dynamics
Estimator
    Pinocchio: estimate__of_noiseless_readings__is_what_pinocchio_computes
    by hand: estimate__equals_elimination_and_weighted_least_squares

geolin_ros.dynamics.batch
inverse_dynamics, forward_dynamics, mass_matrix, mass_matrix_inverse
    Pinocchio: dynamics_of_a_robot__equal_pinocchio
    dense: batch__equals_dense_dynamics
inverse_dynamics_derivatives, forward_dynamics_derivatives
    Pinocchio: dynamics_of_a_robot__equal_pinocchio
    dense: batch__equals_dense_dynamics
hybrid_dynamics
    Pinocchio: dynamics_of_a_robot__equal_pinocchio
    dense: batch__equals_dense_dynamics

geolin_ros.linearization.constrained_dynamics
constrained_forward_dynamics
    dense: forward_dynamics__is_that_of_the_linearization_and_of_dense_dynamics
    Pinocchio: derivatives__are_those_of_pinocchio

geolin_ros.linearization.reduction
reduce
    by hand: spectrum__is_that_of_the_full_system_and_of_the_descriptor_pencil
    SciPy: discretize__is_the_exponential
reduce_step
    differences: steps__are_the_derivative_of_the_constrained_flow
    dense: basis__spans_what_position_and_velocity_admit

geolin_ros.linearization.contacts.rows
constraints_of
    Pinocchio: forward_dynamics__equals_pinocchio
    MuJoCo: forward_dynamics__equals_mujoco_at_rest

geolin_ros
Linearizer
    Pinocchio: linearization__equals_pinocchios
    MuJoCo: nu_dot__equals_mujocos
    differences: linearization__equals_differences_on_the_manifold

geolin_papers.trajectory
transition
    Pinocchio: flow__equals_differences_of_pinocchios_flow
    differences: sensitivity__is_the_derivative_of_the_final_state
"""
"""Module, functions, and their referees with the tests, `test_` left out."""


def table() -> dict[str, dict[str, str]]:
    """Return the test of each referee of each function."""
    rows: dict[str, dict[str, str]] = {}
    home, names, opens = '', [], True
    for line in REFEREES.split('\n'):
        if line.startswith('    '):
            referee, test = line.strip().split(': ')
            for name in names:
                rows.setdefault(f'{home}.{name}', {})[referee] = f'test_{test}'
            opens = True
        elif line.startswith('geolin_'):
            home = line
        elif line:
            names = [] if opens else names
            names += line.strip(',').split(', ')
            opens = False
    return rows


ROWS = table()
ELSEWHERE = {
    'geolin_ros.estimation.sparse.exact_rows': 'book-keeping',
    'geolin_ros.estimation.sparse.solvability': 'a report: known ranks in test/sparse',
    'geolin_ros.dynamics.constraints.rows_of': 'checks shapes',
    'geolin_ros.dynamics.derivatives.of_forward_dynamics': 'the derivatives of one and of many',
    'geolin_ros.dynamics.derivatives.of_inverse_dynamics': 'the derivatives of one and of many',
    'geolin_ros.dynamics.variation.Varied': 'what `inverse_dynamics_variation` consists of',
    'geolin_ros.dynamics.functions.all_free': 'book-keeping',
    'geolin_ros.dynamics.functions.by_given': 'book-keeping',
    'geolin_ros.dynamics.kinematics.check_state': 'checks shapes',
    'geolin_ros.linearization.contacts.activated': 'book-keeping',
    'geolin_ros.linearization.contacts.anchored': 'book-keeping over `Kinematics.pose`',
    'geolin_ros.linearization.contacts.anchored_where_needed': 'book-keeping',
    'geolin_ros.linearization.reduction.admissible_bases': 'the bases of `reduce`',
    'geolin_ros.linearization.reduction.nearest_basis': 'the carried bases of `reduce`',
    'geolin_ros.analyze_modes': 'control: known ranks, and a pendulum by hand, test/control',
    'geolin_ros.design': 'control: SciPy, test_gain__equals_scipy',
    'geolin_ros.equilibrium': 'control: Pinocchio and nnls of SciPy, test/control',
    'geolin_ros.standing_posture': 'control: Pinocchio, test/control/test_posture.py',
    'geolin_ros.read_contact_dynamics': 'reads a message',
    'geolin_ros.read_linearization': 'reads a message',
    'geolin_ros.open_dataset': 'reads a file',
    'geolin_ros.dynamics.functions.Dynamics': (
        'bit for bit: test_dynamics__are_those_of_the_functions'
    ),
}
SHARED = (
    'placed',
    'workspace',
    'state_data',
    'wrong_state',
    'vector',
    'truth',
    'with_base',
    'failure',
)
"""What modules of the package share with one another: no dynamics."""


def is_computing(value: object) -> bool:
    """Whether a class answers to a state."""
    answers = ('__call__', 'forward_dynamics', 'solve', 'estimate')
    return inspect.isclass(value) and any(name in vars(value) for name in answers)


def public_functions() -> list[str]:
    """Return functions, methods and classes that compute, each in the first module that has it."""
    found: dict[int, str] = {}
    for module in MODULES:
        owner = pkgutil.resolve_name(module)
        for name in getattr(owner, '__all__', vars(owner)):
            value = getattr(owner, name)
            own = getattr(value, '__module__', '').startswith(module.removesuffix('.Kinematics'))
            public = own and not name.startswith('_') and name not in SHARED
            if public and (inspect.isfunction(value) or is_computing(value)):
                found.setdefault(id(value), f'{module}.{name}')
    return list(found.values())


def definitions(path: Path) -> dict[str, ast.AST]:
    """Return what a module's names stand for: functions, assignments and imports."""
    found: dict[str, ast.AST] = {}
    for node in ast.parse(path.read_text(encoding='utf-8')).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.asname or alias.name.partition('.')[0] for alias in node.names]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        else:
            names = [getattr(node, 'name', '')]
        found |= dict.fromkeys(names, node)
    return found


def reached(test: str, path: Path) -> str:
    """Return a test with all it uses of its own file: fixtures, helpers, what they import."""
    folders = [path.parent, *path.parent.parents]
    conftests = [folder / 'conftest.py' for folder in folders[: folders.index(TESTS) + 1]]
    known: dict[str, ast.AST] = {}
    for file in (path, *conftests):
        if file.exists():
            known = definitions(file) | known
    wanted, seen = [test], {}
    while wanted:
        name = wanted.pop()
        if name in seen or name not in known:
            continue
        seen[name] = known[name]
        for node in ast.walk(known[name]):
            name = getattr(node, 'id', None) or getattr(node, 'arg', None)
            wanted += [name] if isinstance(name, str) else []
    return '\n'.join(ast.unparse(node) for node in seen.values())


@pytest.mark.parametrize('function', public_functions())
def test_public_function__has_two_referees(function: str) -> None:
    if function in ELSEWHERE:
        assert function not in ROWS
        return
    assert len(ROWS[function]) >= 2
    for referee, test in ROWS[function].items():
        used = [reached(test, path) for path, text in FILES.items() if f'def {test}(' in text]
        assert used, f'there is no {test}'
        assert any(re.search(IMPORTED[referee], text) for text in used), (
            f'{test} does not ask {referee}'
        )


def test_table__names_functions_that_exist() -> None:
    assert sorted(set(ROWS) - set(public_functions())) == []
