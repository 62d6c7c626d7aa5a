# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Macros of xacro into URDF, where xacro is installed.

Unlike a URDF, a xacro file may include other files and evaluate expressions: expand only files
that you trust. What comes out is read as any URDF text.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from geolin_ros.errors import ConfigurationError, UrdfError

_given: ContextVar[Mapping[str, str] | None] = ContextVar('xacro arguments', default=None)


@contextmanager
def xacro_arguments(values: Mapping[str, str]) -> Iterator[None]:
    """Give every xacro file that is expanded inside these values of its ``<xacro:arg>``."""
    before = _given.set({**(_given.get() or {}), **values})
    try:
        yield
    finally:
        _given.reset(before)


def argument_of(text: str) -> tuple[str, str]:
    """Return name and value of ``NAME:=VALUE``.

    Raises `ConfigurationError` if the text is none.
    """
    name, separator, value = text.partition(':=')
    if not (name and separator):
        raise ConfigurationError(f'argument {text!r} is not NAME:=VALUE')
    return name, value


def is_xacro(path: str | Path) -> bool:
    """Whether a file is one of xacro, by its name."""
    return Path(path).suffix == '.xacro'


def expand(path: str | Path, arguments: Mapping[str, str] | None = None) -> str:
    """Return the URDF text of a xacro file.

    Raises `UrdfError` if xacro is not installed, or cannot expand the file.

    Parameters
    ----------
    arguments
        Values of its ``<xacro:arg>``, before those of `xacro_arguments`; those that are missing
        need a default there.
    """
    try:
        import xacro
    except ImportError as error:
        raise UrdfError(
            f'{path}: cannot be expanded, because xacro is not installed; install it '
            '(ros-$ROS_DISTRO-xacro, or pip install xacro), or give the result of '
            f'`xacro {path} > robot.urdf`'
        ) from error
    if not Path(path).is_file():
        raise UrdfError(f'{path}: does not exist, expected a xacro file; check the path')
    try:
        mappings = {**(_given.get() or {}), **(arguments or {})}
        return str(xacro.process_file(str(path), mappings=mappings).toxml())
    except Exception as error:  # whatever expressions and included files do
        raise UrdfError(
            f'{path}: cannot be expanded by xacro: {type(error).__name__}: {error}; correct it, '
            'give the values of its <xacro:arg> (--xacro-args NAME:=VALUE, parameter xacro_args), '
            f'or give the result of `xacro {path} > robot.urdf`'
        ) from error
