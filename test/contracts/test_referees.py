# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every public function and class of the dynamics is called by tests that ask two referees."""

import ast
import functools
import inspect
import pkgutil
import re
from pathlib import Path

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
    'geolin_ros.dynamics.momentum',
    'geolin_ros.linearization.representation',
    'geolin_papers.consistency',
    'geolin_papers.lie_groups',
    'geolin_papers.trajectory',
    'geolin_ros.linearization.contacts',
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
    'geolin_estimation.sparse.known': 'reads an unknown itself',
    'geolin_estimation.sparse.solvability': 'a report: known ranks in test/sparse',
    'geolin_ros.dynamics.constraints.rows_of': 'checks shapes',
    'geolin_ros.dynamics.functions.all_free': 'book-keeping',
    'geolin_ros.dynamics.functions.conditioning': 'Pinocchio, test/dynamics/test_extremes.py',
    'geolin_ros.dynamics.momentum.spring_stretch': 'in `equations_of_motion`',
    'geolin_ros.dynamics.variation.parameters_of_inertias': 'in `inertial_parameters`',
    'geolin_ros.dynamics.variation.vary': 'in `*_variation`',
    'geolin_ros.linearization.contacts.activated': 'book-keeping',
    'geolin_ros.linearization.contacts.anchored': 'book-keeping over `Kinematics.pose`',
    'geolin_ros.linearization.contacts.anchored_where_needed': 'book-keeping',
    'geolin_ros.linearization.representation.sensitivity': 'in `in_representation`',
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
    'geolin_ros.dynamics.functions.Dynamics': 'bit for bit: test/dynamics/test_dynamics.py',
}
SHARED = r'placed|workspace|state_data|wrong_state|vector|truth|failure|change'
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
            public = own and not name.startswith('_') and not re.fullmatch(SHARED, name)
            if public and (inspect.isfunction(value) or is_computing(value)):
                found.setdefault(id(value), f'{module}.{name}')
    return list(found.values())


@functools.cache
def definitions(path: Path) -> dict[str, ast.AST]:
    """Return what a module's names stand for: functions, assignments and imports."""
    found: dict[str, ast.AST] = {}
    for node in ast.parse(path.read_text(encoding='utf-8')).body if path.exists() else ():
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.asname or alias.name.partition('.')[0] for alias in node.names]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        else:
            names = [getattr(node, 'name', '')]
        found |= dict.fromkeys(names, node)
    return found


@functools.cache
def words(node: ast.AST) -> set[str]:
    """Return the names, arguments and attributes that a definition uses."""
    kinds = ('id', 'arg', 'attr')
    found = (getattr(inner, kind, None) for inner in ast.walk(node) for kind in kinds)
    return {word for word in found if isinstance(word, str)}


def reached(test: str, path: Path) -> list[ast.AST]:
    """Return a test with all it uses of its own file: fixtures, helpers, what they import."""
    known: dict[str, ast.AST] = {}
    for folder in (TESTS, path.parent):
        known |= definitions(folder / 'conftest.py')
    known |= definitions(path)
    wanted, seen = [test], {}
    while wanted:
        name = wanted.pop()
        if name in known and name not in seen:
            seen[name] = known[name]
            wanted += words(known[name])
    return list(seen.values())


@functools.cache
def imported(node: ast.AST) -> list[object]:
    """Return what of the packages a statement imports."""
    if not isinstance(node, ast.ImportFrom) or not str(node.module).startswith('geolin_'):
        return []
    return [pkgutil.resolve_name(f'{node.module}.{alias.name}') for alias in node.names]


@functools.cache
def asked(node: ast.AST) -> set[str]:
    """Return the referees that a definition uses."""
    text = ast.unparse(node)
    return {referee for referee, use in IMPORTED.items() if re.search(use, text)}


@functools.cache
def referees() -> dict[int, set[str]]:
    """Return the referees that tests ask which call a function."""
    found: dict[int, set[str]] = {}
    any_referee = '|'.join(IMPORTED.values())
    for path in TESTS.glob('**/test_*.py'):
        asks = re.search(any_referee, path.read_text(encoding='utf-8'))
        for test in definitions(path) if asks else ():
            nodes = reached(test, path) if test.startswith('test_') else []
            by = set().union(*map(asked, nodes))
            of_package = [value for node in nodes if by for value in imported(node)]
            called, used = {*map(id, of_package)}, set().union(*map(words, nodes))
            for owner in of_package:
                if inspect.ismodule(owner) or owner is Kinematics:
                    called |= {id(getattr(owner, name)) for name in used & set(dir(owner))}
            for function in called:
                found.setdefault(function, set()).update(by)
    return found


def test_public_functions__have_two_referees() -> None:
    public = set(public_functions())
    assert set(ELSEWHERE) <= public
    asked = {name: referees().get(id(pkgutil.resolve_name(name)), set()) for name in public}
    few = {name: found for name, found in asked.items() if len(found) < 2}
    assert set(few) - set(ELSEWHERE) == set(), few
