# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of earlier versions work for one version, and warn with the name that is theirs now."""

import dataclasses
import functools
import importlib
import sys
import warnings
from collections.abc import Callable
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

from geolin_ros.optional import BESIDE, not_installed

RENAMED = {
    'geolin_ros.Contact.stiffness': 'kp',
    'geolin_ros.Contact.damping': 'kd',
    'geolin_ros.Discretization.copy': 'copy.deepcopy(step)',
    'geolin_ros.LinearizationBatch.linearizer': (
        'Linearizer(batch.workspace.model, batch.contacts)'
    ),
    'geolin_ros.LinearizationBatch.part': 'batch[a:b]',
    'geolin_ros.LinearizationBatch.rows': 'batch[0].rows',
    'geolin_ros.Linearizer.about': 'linearizer(state, tau, wrenches=wrenches).about',
    'geolin_ros.Loop.stiffness': 'kp',
    'geolin_ros.Loop.damping': 'kd',
    'geolin_ros.TreeModel.n_q': 'n_s',
    'geolin_ros.d_forward_dynamics': 'forward_dynamics_variation',
    'geolin_ros.d_hybrid_dynamics': 'hybrid_dynamics_variation',
    'geolin_ros.d_inverse_dynamics': 'inverse_dynamics_variation',
    'geolin_ros.ros.linearizer.LinearizationNode': 'LinearizerNode',
    'geolin_ros.control.effort_guard.effort_limits': 'geolin_ros.control.weights.effort_limits',
    'geolin_ros.description.check_tree': (
        'raise_errors(it.source, tree_findings(it), ModelError)'
    ),
    'geolin_ros.description.topology.check_tree': (
        'raise_errors(it.source, tree_findings(it), ModelError)'
    ),
    'geolin_ros.dynamics.derivatives.d_forward_dynamics': 'forward_dynamics_variation',
    'geolin_ros.dynamics.derivatives.d_hybrid_dynamics': 'hybrid_dynamics_variation',
    'geolin_ros.dynamics.derivatives.d_inverse_dynamics': 'inverse_dynamics_variation',
    'geolin_ros.estimation.sparse.DynamicsSolver': 'Estimator(...).estimate(state, readings)',
    'geolin_ros.linearization.contacts.ReducedLinearization': (
        'geolin_ros.linearization.reduction.ReducedLinearization'
    ),
    'geolin_ros.linearization.contacts.ReducedStep': 'reduce() at both ends: P1.T @ Phi @ P0',
    'geolin_ros.linearization.contacts.constrained_forward_dynamics': (
        'geolin_ros.constrained_forward_dynamics'
    ),
    'geolin_ros.linearization.contacts.constraints_of': 'geolin_ros.constraints_of',
    'geolin_ros.linearization.contacts.reduce': 'geolin_ros.reduce',
    'geolin_ros.linearization.contacts.reduce_step': 'reduce() at both ends: P1.T @ Phi @ P0',
    'geolin_ros.linearization.representation.convert': 'result.in_representation(name)',
    'geolin_ros.linearization.representation.displacement_from_body': (
        'TwistChange(state, name).from_body(z)'
    ),
    'geolin_ros.linearization.representation.displacement_to_body': (
        'TwistChange(state, name).on_columns(np.eye(len(z))) @ z'
    ),
    'geolin_ros.linearization.representation.twist_from_body': (
        'twist(B, expression_frame(B, name)) of B = MovingFrame(H, v)'
    ),
    'geolin_ros.linearization.representation.twist_to_body': (
        'twist_map(expression_frame(B, name), B) @ twist of B = MovingFrame(H)'
    ),
    'geolin_ros.offline.report.write_report': 'geolin report (geolin_tools.cli.report.run)',
    'geolin_ros.spatial.frames.body_acceleration': (
        'twist_map(C, B) @ apparent - se3.cross(relative_twist(B, C)) @ B.v'
    ),
    'geolin_ros.urdf.shapes.find_mesh': 'geolin_ros.description.shapes.find_mesh',
}
"""From old to new; a name without dots is of the same module or class, code does what it did."""

_ROWS = Path(__file__).with_name('moved.txt').read_text().splitlines()
MOVED = dict(row.split(': ') for row in _ROWS if not row.startswith('#'))
"""Modules and packages, from old to new.

Files are of the repository, nothing installs them; a call does what a module did that is gone.
"""
OLD_NODE = 'linearization_node'
"""What the node `linearizer` was called."""

C = TypeVar('C', bound=type)


def warn(old: str, new: str, depth: int = 3) -> None:
    """Warn whoever is ``depth`` calls up.

    Raises `ModuleNotFoundError` for a file or a package that is not installed, `ImportError` for
    what is gone.
    """
    if '/' in new:
        raise ModuleNotFoundError(f'{old} is now {new} of the repository, not installed')
    if '(' in new:
        raise ImportError(f'{old} is gone, expected {new}')
    package = new.partition('.')[0]
    if package in BESIDE and find_spec(package) is None:
        raise ModuleNotFoundError(str(not_installed(f'{old} is now {new}', package)))
    warnings.warn(
        f'{old} is now {new}; the old name ends with the next version',
        DeprecationWarning,
        stacklevel=depth,
    )


def of_package(package: str, name: str) -> Any:
    """Return what has an old name of a package, a module too, and warn.

    Raises `AttributeError` if it is no old name either, `ImportError` if nothing has its place.
    """
    old = f'{package}.{name}'
    new = RENAMED.get(old) or MOVED.get(old)
    if new is None:
        raise AttributeError(f'module {package!r} has no attribute {name!r}')
    warn(old, new, depth=4)
    if old in MOVED:
        return importlib.import_module(new)
    home, _, own = new.rpartition('.')
    return getattr(importlib.import_module(home or package), own)


def old_names(package: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module for its old names."""
    return lambda name: of_package(package, name)


class Moved(Loader):
    """Finds modules of `MOVED` and what is in them, loads what they are now, and warns."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> ModuleSpec | None:
        """Return how a module is loaded; None for one that has not moved."""
        found = (old for old in MOVED if f'{name}.'.startswith(f'{old}.'))
        old = max(found, key=len, default=None)
        return ModuleSpec(name, Moved(name, MOVED[old] + name[len(old) :])) if old else None

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of now in its place."""
        warn(self._old, self._new)
        sys.modules[self._old] = there = importlib.import_module(self._new)
        vars(there).setdefault('__path__', [])  # of a package that is a module now
        vars(there).setdefault('__getattr__', old_names(self._old))

    def get_code(self, _: str) -> CodeType:
        """Return what ``python -m`` runs."""
        warn(self._old, self._new)
        spec: Any = find_spec(self._new)
        code: CodeType = spec.loader.get_code(self._new)
        return code


def with_old_names(cls: C) -> C:
    """Let a class have the old names of `RENAMED`, as attributes and where it is made.

    Fields of a dataclass that are keyword-only now are taken by position, with a warning.
    """
    where = f'geolin_ros.{cls.__name__}.'
    names = {old.removeprefix(where): new for old, new in RENAMED.items() if old.startswith(where)}
    for old, new in names.items():
        setattr(cls, old, property(functools.partial(_read, old=where + old, new=new)))
    if dataclasses.is_dataclass(cls) and any(f.kw_only for f in dataclasses.fields(cls)):
        type.__setattr__(cls, '__init__', _made_by_old(cls, names))
    return cls


def _read(of: Any, old: str, new: str) -> Any:
    if not new.isidentifier():
        raise AttributeError(f'{old} is gone, expected {new}')
    warn(old, new)
    return getattr(of, new)


def _made_by_old(cls: type, names: dict[str, str]) -> Callable[..., None]:
    init: Callable[..., None] = vars(cls)['__init__']
    fields = dataclasses.fields(cls)
    alike = [field.name for field in fields if field.kw_only]
    most = len(fields) - len(alike)

    @functools.wraps(init)
    def by_new(self: Any, *values: Any, **named: Any) -> None:
        for old in names.keys() & named.keys():
            warn(f'{cls.__name__}({old}=)', f'{names[old]}=')
            named[names[old]] = named.pop(old)
        for name, value in zip(alike, values[most:], strict=False):
            warn(f'{name} of {cls.__name__} by position', f'{name}=')
            named[name] = value
        init(self, *values[:most], **named)

    return by_new
