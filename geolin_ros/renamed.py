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
from types import CodeType, ModuleType
from typing import Any, TypeVar

RENAMED = {
    'geolin_ros.Contact.stiffness': 'kp',
    'geolin_ros.Contact.damping': 'kd',
    'geolin_ros.Loop.stiffness': 'kp',
    'geolin_ros.Loop.damping': 'kd',
    'geolin_ros.TreeModel.n_q': 'n_s',
    'geolin_ros.d_forward_dynamics': 'forward_dynamics_variation',
    'geolin_ros.d_hybrid_dynamics': 'hybrid_dynamics_variation',
    'geolin_ros.d_inverse_dynamics': 'inverse_dynamics_variation',
    'geolin_ros.ros.linearizer.LinearizationNode': 'LinearizerNode',
    'geolin_ros.linearization.contacts.constraints_of': 'geolin_ros.constraints_of',
    'geolin_ros.linearization.contacts.reduce': 'geolin_ros.reduce',
    'geolin_ros.linearization.contacts.reduce_step': 'reduce() at both ends: P1.T @ Phi @ P0',
    'geolin_ros.linearization.representation.convert': 'result.in_representation(name)',
    'geolin_ros.urdf.shapes.find_mesh': 'geolin_ros.description.shapes.find_mesh',
}
"""From old to new; a name without dots is of the same module or class, a call does what it did."""

MOVED = {
    'geolin_ros.control.effort_guard': 'geolin_control.effort_guard',
    'geolin_ros.control.feedback': 'geolin_ros.control.lqr',
    'geolin_ros.control.gain_bank': 'geolin_control.gain_bank',
    'geolin_ros.control.gain_file': 'geolin_control.gain_file',
    'geolin_ros.control.regulator': 'geolin_control.regulator',
    'geolin_ros.control.stages': 'geolin_control.stages',
    'geolin_ros.dynamics.batch': 'geolin_ros',
    'geolin_ros.dynamics.conditioning': 'geolin_ros.dynamics.functions',
    'geolin_ros.dynamics.equations_of_motion': 'geolin_ros.dynamics.momentum',
    'geolin_ros.estimation': 'geolin_estimation',
    'geolin_ros.estimation.identification': 'geolin_tools.identification',
    'geolin_ros.export': 'geolin_tools.export',
    'geolin_ros.linearization.contacts.rows': 'geolin_ros.linearization.contacts.constraints',
    'geolin_ros.ros.linearization_node': 'geolin_ros.ros.linearizer',
    'geolin_ros.ros.torque_estimator': 'geolin_estimation.torque_estimator',
    'geolin_ros.ros.signals': 'geolin_ros.ros.programs',
    'geolin_ros.ros.executor': 'geolin_ros.ros.running',
    'geolin_ros.stream.geometry': 'geolin_ros.stream.message_fields',
    'geolin_ros.stream.inputs.contact_state': 'geolin_ros.stream.contacts',
    'geolin_ros.stream.inputs.stamps': 'geolin_ros.stream.topic_stream',
    'geolin_ros.stream.message_memory': 'geolin_ros.stream.message_fields',
    'geolin_ros.stream.outputs.contact_messages': 'geolin_ros.stream.outputs.reading',
    'geolin_ros.stream.parameters.tables': 'geolin_ros.stream.parameters.file',
    'geolin_ros.stream.inputs.contact_input': 'geolin_ros.stream.contacts',
    'geolin_ros.stream.drops': 'geolin_ros.stream.topic_stream',
    'geolin_ros.view': 'geolin_tools.view',
    'geolin_ros.estimation.sparse.articulated': 'examples/geolin_papers/nori_2017/articulated.py',
    'geolin_ros.estimation.sparse.report': 'geolin_estimation.sparse.estimator',
    'geolin_ros.kernels.papers': 'examples/geolin_papers',
    'geolin_ros.linearization.consistency': 'examples/geolin_papers/consistency.py',
    'geolin_ros.linearization.trajectory': 'examples/geolin_papers/trajectory.py',
    'geolin_ros.ros.lqr_node': 'geolin_control.lqr_node',
    'geolin_ros.ros.state_estimator': 'geolin_estimation.state_estimator',
    'geolin_ros.spatial.lie_group': 'examples/geolin_papers/lie_groups.py',
    'geolin_ros.stream.base_stream': 'geolin_estimation.base_stream',
    'geolin_ros.stream.torque_stream': 'geolin_estimation.torque_stream',
}
"""Modules and packages, from old to new; files are of the repository, nothing installs them."""
OLD_NODE = 'linearization_node'
"""What the node `linearizer` was called."""

C = TypeVar('C', bound=type)


def warn(old: str, new: str, depth: int = 3) -> None:
    """Warn whoever is ``depth`` calls up; `ModuleNotFoundError` for a file, not installed."""
    if '/' in new:
        raise ModuleNotFoundError(f'{old} is now {new} of the repository, not installed')
    warnings.warn(
        f'{old} is now {new}; the old name ends with the next version',
        DeprecationWarning,
        stacklevel=depth,
    )


def of_package(package: str, name: str) -> Any:
    """Return what has an old name of a package, and warn.

    Raises `AttributeError` if it is no old name either, `ImportError` if nothing has its place.
    """
    old = f'{package}.{name}'
    new = RENAMED.get(old)
    if new is None:
        raise AttributeError(f'module {package!r} has no attribute {name!r}')
    if '(' in new:
        raise ImportError(f'{old} is gone, expected {new}')
    warn(old, new, depth=4)
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
        sys.modules[self._old] = importlib.import_module(self._new)

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
