# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of every node, and ROS parameter files, read without ROS."""

import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from geolin_ros import renamed
from geolin_ros.description.safe_yaml import read_yaml
from geolin_ros.errors import ConfigurationError, InputError, unknown_name
from geolin_ros.optional import not_installed
from geolin_ros.renamed import OLD_NODE
from geolin_ros.stream.parameters.table import Parameter

NODE = 'linearizer'
BESIDE = {
    'lqr_node': 'geolin_control.feedback_stream:LQR_TABLE',
    'state_estimator': 'geolin_estimation.base_stream:BASE_TABLE',
    'torque_estimator': 'geolin_estimation.torque_stream:TORQUE_TABLE',
    'walking_node': 'geolin_walking.walking_stream:WALKING_TABLE',
}
"""Nodes of packages beside this one, with their tables, loaded when asked for."""
ALL = (NODE, *BESIDE)


def table_of(node: str) -> tuple[Parameter, ...]:
    """Return the parameters of a node, one of `ALL`.

    Raises `ConfigurationError` if its package is not installed.
    """
    if node == 'linearizer':
        from geolin_ros.stream.parameters.linearizer import TABLE

        return TABLE
    try:
        table: tuple[Parameter, ...] = pkgutil.resolve_name(BESIDE[node])
    except ModuleNotFoundError as error:
        if not str(error.name).startswith('geolin_'):
            raise
        raise not_installed(f'{node} is a node', BESIDE[node].partition('.')[0]) from error
    return table


def default_values(node: str = NODE) -> dict[str, Any]:
    """Return the default of every parameter of a node."""
    return {parameter.name: parameter.default for parameter in table_of(node)}


def read_parameter_file(path: str | Path, node: str = NODE) -> dict[str, Any]:
    """Return the values that a ROS parameter file gives to a node.

    Sections for any node (``/**``) and for nodes named ``node``, in any namespace, count, later
    ones first. Parameters of ROS itself (``use_sim_time``, ``qos_overrides``) are left aside.
    Raises `ConfigurationError` if the file is no ROS parameter file, or a value is not allowed;
    `UnknownNameError` if it names a parameter that the node does not have.
    """
    try:
        sections = read_yaml(path)
    except InputError as error:
        raise ConfigurationError(f'parameter file {path} cannot be read: {error}') from error
    values: dict[str, Any] = {}
    for name, section in _sections(path, sections):
        own = name.rpartition('/')[2]
        if own == OLD_NODE and node == NODE:
            renamed.warn(f'section {own} of {path}', NODE)
            own = NODE
        if own in (node, '*', '**'):
            values |= _flatten(section)
    return {
        name: checked(name, value, node) for name, value in values.items() if not is_of_ros(name)
    }


def checked(name: str, value: Any, node: str = NODE) -> Any:
    """Return the value of a parameter of a node in the type of its default.

    Raises `ConfigurationError` if the type or the value is not allowed; `UnknownNameError` if
    there is no such parameter.
    """
    rows = {parameter.name: parameter for parameter in table_of(node)}
    if name not in rows:
        raise unknown_name('parameter', name, rows, f'the parameters of {node}')
    parameter = rows[name]
    value = _like(parameter, value)
    parameter.check(value)
    return value


def _sections(path: str | Path, content: Any, name: str = '') -> Iterator[tuple[str, Any]]:
    """Yield name and parameters of each node of a file: nodes may stand below namespaces."""
    if not isinstance(content, dict):
        raise ConfigurationError(
            f'parameter file {path} has {content!r} under {name or "its top"!r}, expected '
            'NODE: ros__parameters: NAME: VALUE; print one to start from with '
            '`geolin parameters`'
        )
    for key, inner in content.items():
        if key == 'ros__parameters' and isinstance(inner or {}, dict):
            yield name, inner or {}
        else:
            yield from _sections(path, inner, f'{name}/{str(key).strip("/")}')


def _flatten(section: Mapping[str, Any], prefix: str = '') -> dict[str, Any]:
    """Return nested names joined by dots."""
    flat: dict[str, Any] = {}
    for key, value in section.items():
        inner = isinstance(value, dict)
        flat |= _flatten(value, f'{prefix}{key}.') if inner else {f'{prefix}{key}': value}
    return flat


def is_of_ros(name: str) -> bool:
    """Return whether a parameter is one that every node has."""
    own = name in ('use_sim_time', 'start_type_description_service')
    return own or name.startswith('qos_overrides.')


def _like(parameter: Parameter, value: Any) -> Any:
    """Return a value in the type of the default, as ROS would demand it."""
    default = parameter.default
    if isinstance(default, list) and isinstance(value, list):
        kind = type(default[0])
        accepted = (float, int) if kind is float else kind
        if all(isinstance(entry, accepted) for entry in value):
            return [kind(entry) for entry in value]
    elif isinstance(default, float) and isinstance(value, (int, float)):
        if not isinstance(value, bool):
            return float(value)
    elif isinstance(value, type(default)) and isinstance(value, bool) == isinstance(default, bool):
        return value
    raise ConfigurationError(
        f'parameter {parameter.name} is {value!r}, expected {type(default).__name__} as its '
        f'default {default!r}'
    )
