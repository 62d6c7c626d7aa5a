# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages that only parts of the library need, and those beside it: extras of setup.py."""

import importlib
from importlib.util import find_spec
from typing import Any

from geolin_ros.errors import ConfigurationError

BESIDE = {
    'geolin_control': '"geolin_ros[control]"',
    'geolin_demos': '"geolin_demos"',
    'geolin_estimation': '"geolin_ros[estimation]"',
    'geolin_tools': '"geolin_ros[tools]"',
    'geolin_walking': '"geolin_ros[walking]"',
}
"""Packages beside this one, and what pip is asked for."""


def not_installed(what: str, package: str) -> ConfigurationError:
    """Return the error for what is of a package of `BESIDE`, which is not installed."""
    return ConfigurationError(
        f'{what} of the package {package}, which is not installed: pip install '
        f'{BESIDE[package]}, or build it beside geolin_ros'
    )


def require(*packages: str, extra: str) -> None:
    """Check that packages of an extra are installed.

    Raises `ConfigurationError` if one is not; it names the extra that installs it.
    """
    for package in packages:
        if find_spec(package) is None:
            since = ', with Python 3.11 or later' if extra == 'offline' else ''
            raise ConfigurationError(
                f'package {package} is not installed, expected what the extra {extra!r} holds: '
                f'pip install "geolin_ros[{extra}]"{since}'
            )


class _Module:
    def __init__(self, name: str, extra: str) -> None:
        self._name, self._extra = name, extra

    def __getattr__(self, attribute: str) -> Any:
        require(self._name.partition('.')[0], extra=self._extra)
        module = importlib.import_module(self._name)
        value = getattr(module, attribute)
        setattr(self, attribute, value)  # found without this from now on
        return value


def optional(module: str, *, extra: str) -> Any:
    """Return a module of an extra that is imported when it is first used.

    Without its package that use raises the `ConfigurationError` of `require`.
    """
    return _Module(module, extra)
