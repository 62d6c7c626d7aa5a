# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every public function and class of the dynamics is called by tests that ask two referees."""

import ast
import functools
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

from geolin_ros.dynamics.kinematics import Kinematics

TESTS = Path(__file__).resolve().parents[1]
MODULES = (
    'geolin_ros.dynamics.functions',
    'geolin_ros.dynamics.derivatives',
    'geolin_ros.dynamics.variation',
    'geolin_ros.dynamics.constraints',
    'geolin_estimation.sparse',
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
    'dense': r'dense_reference|constrained_reference|kim_tables',
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

ELSEWHERE = {
    'geolin_estimation.sparse.exact_rows': 'book-keeping',
    'geolin_estimation.sparse.known': 'reads an unknown itself',
    'geolin_estimation.sparse.solvability': 'a report: known ranks in test/sparse',
    'geolin_ros.dynamics.constraints.rows_of': 'checks shapes',
    'geolin_ros.dynamics.derivatives.of_forward_dynamics': 'the derivatives of one and of many',
    'geolin_ros.dynamics.derivatives.of_inverse_dynamics': 'the derivatives of one and of many',
    'geolin_ros.dynamics.equations_of_motion.spring_stretch': 'in `equations_of_motion`',
    'geolin_ros.dynamics.functions.all_free': 'book-keeping',
    'geolin_ros.dynamics.functions.by_given': 'book-keeping',
    'geolin_ros.dynamics.variation.parameters_of_inertias': 'in `inertial_parameters`',
    'geolin_ros.linearization.contacts.activated': 'book-keeping',
    'geolin_ros.linearization.contacts.anchored': 'book-keeping over `Kinematics.pose`',
    'geolin_ros.linearization.contacts.anchored_where_needed': 'book-keeping',
    'geolin_ros.linearization.representation.sensitivity': 'in `in_representation`',
    'geolin_ros.linearization.representation.spin_of': 'in `in_representation`',
    'geolin_papers.lie_groups.derivative': 'the differences of `linearize`',
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
        'bit for bit: test_dynamics__are_those_of_the_functions_which_leave_their_results_alone'
    ),
}
text_of = functools.cache(ast.unparse)
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


@functools.cache
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


def reached(test: str, path: Path) -> list[ast.AST]:
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
        wanted += names(known[name])
    return list(seen.values())


@functools.cache
def names(node: ast.AST) -> list[str]:
    """Return what a definition uses."""
    used = (getattr(n, 'id', None) or getattr(n, 'arg', None) for n in ast.walk(node))
    return [name for name in used if isinstance(name, str)]


@functools.cache
def attributes(node: ast.AST) -> set[str]:
    """Return the attributes that a definition looks at."""
    return {inner.attr for inner in ast.walk(node) if hasattr(inner, 'attr')}


def called(nodes: list[ast.AST]) -> set[int]:
    """Return what of the package these nodes import, and the attributes of it that they use."""
    imported = [
        pkgutil.resolve_name(f'{node.module}.{alias.name}')
        for node in nodes
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith('geolin_')
        for alias in node.names
    ]
    used = set().union(*map(attributes, nodes))
    owners = [each for each in imported if inspect.ismodule(each) or each is Kinematics]
    return {id(value) for value in imported} | {
        id(getattr(owner, name)) for owner in owners for name in used & set(dir(owner))
    }


@functools.cache
def referees() -> dict[int, set[str]]:
    """Return the referees that tests ask which call a function."""
    found: dict[int, set[str]] = {}
    for path in TESTS.glob('**/test_*.py'):
        for test in definitions(path):
            nodes = reached(test, path) if test.startswith(('test_', 'Test')) else []
            text = '\n'.join(map(text_of, nodes))
            asked = {referee for referee, use in IMPORTED.items() if re.search(use, text)}
            for function in called(nodes) if asked else ():
                found.setdefault(function, set()).update(asked)
    return found


@pytest.mark.parametrize('function', sorted(set(public_functions()) - set(ELSEWHERE)))
def test_public_function__has_two_referees(function: str) -> None:
    found = referees().get(id(pkgutil.resolve_name(function)), set())
    assert len(found) >= 2, f'of {sorted(IMPORTED)} tests that call it ask {sorted(found)} alone'


def test_functions_without_referees__exist() -> None:
    assert set(ELSEWHERE) <= set(public_functions())
