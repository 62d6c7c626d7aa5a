# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Everything the package raises: one tree, messages name source, value, expectation, fix."""

import difflib
from collections.abc import Iterable, Sequence
from typing import Any


class GeolinError(Exception):
    """Root of all errors raised by geolin_ros; ``findings`` lists what is wrong, if several."""

    findings: tuple[Any, ...] = ()


class ModelError(GeolinError, ValueError):
    """A robot description cannot be turned into a tree model."""


class UrdfError(ModelError):
    """A URDF text is malformed, unsafe or out of bounds."""


class UnsupportedJointError(ModelError):
    """A joint is of a kind that the requested reading does not support."""


class SingularInertiaError(GeolinError, ArithmeticError):
    """The mass matrix is singular: a joint has no inertia to move."""


class UnsolvableError(GeolinError, ArithmeticError):
    """Measurements do not determine what is asked for."""


class _ReportedError(GeolinError, ArithmeticError):
    def __init__(self, message: str, report: object = None) -> None:
        super().__init__(message)
        self.report = report


class InfeasibleError(_ReportedError):
    """A motion, state or posture violates constraints or limits; ``report``, if any, says more."""


class NotStabilizableError(_ReportedError):
    """No feedback keeps the state at its operating point; ``report`` says why, if known."""


class NotFiniteError(GeolinError, ArithmeticError):
    """An input or a result holds NaN or inf."""


class ShapeError(GeolinError, ValueError):
    """An array does not have the shape that the model asks for."""


class UnknownNameError(GeolinError, LookupError):
    """A joint, link or frame name is not part of the model."""


class InputError(GeolinError, ValueError):
    """A message or argument holds a value that cannot be used."""


class ConfigurationError(GeolinError, ValueError):
    """A parameter or option has a value outside its range."""


class RecordingError(GeolinError, OSError):
    """A bag or a dataset cannot be read or written."""


class ModelWarning(UserWarning):
    """A robot description is legal but physically implausible."""


def unknown_name(kind: str, name: str, known: Iterable[str], where: str) -> UnknownNameError:
    """Return an error that lists the names closest to an unknown one."""
    names = list(known)
    listed = ', '.join(repr(near) for near in nearest(name, names) or names[:8])
    return UnknownNameError(f'{kind} {name!r} is not part of {where}; did you mean {listed}?')


def nearest(name: str, known: Iterable[str], cutoff: float = 0.5) -> list[str]:
    """Return at most three names that somebody may have meant, the likeliest first.

    The case of letters does not count.
    """
    names = {known_name.lower(): known_name for known_name in known}
    found = difflib.get_close_matches(name.lower(), names, n=3, cutoff=cutoff)
    return [names[near] for near in found]


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return the question "did you mean" for one near name, else nothing."""
    near = nearest(name, known, 0.7)[:1] if isinstance(name, str) else ()
    return f'did you mean {near[0]!r}? ' if near else ''


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is one.

    Examples
    --------
    >>> counted(1, 'posture'), counted(2, 'body')
    ('1 posture', '2 bodies')
    """
    many = f'{noun[:-1]}ies' if noun.endswith('y') else f'{noun}s'
    return f'{count} {noun if count == 1 else many}'


def check_choice(what: str, value: object, choices: Sequence[str]) -> None:
    """Raise `ConfigurationError`, which lists the choices, unless an option is one of them."""
    if not isinstance(value, str) or value not in choices:
        raise ConfigurationError(
            f'{what} is {value!r}, expected one of {", ".join(map(repr, choices))}'
        )
