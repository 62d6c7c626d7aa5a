# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Everything the package raises: one tree, each message names culprit, value, expectation, fix."""

import difflib
from collections.abc import Iterable


class GeolinError(Exception):
    """Root of all errors raised by geolin_ros."""


class ModelError(GeolinError, ValueError):
    """A robot description cannot be turned into a tree model."""


class UrdfError(ModelError):
    """A URDF text is malformed, unsafe or out of bounds."""


class UnsupportedJointError(ModelError):
    """A joint is of a kind that the requested reading does not support."""


class SingularInertiaError(GeolinError, ArithmeticError):
    """The mass matrix is singular: a joint moves no inertia."""


class UnsolvableError(GeolinError, ArithmeticError):
    """Measurements do not determine what is asked for."""


class InfeasibleError(GeolinError, ArithmeticError):
    """A motion, state or posture violates constraints or limits; ``report``, if any, says more."""

    def __init__(self, message: str, report: object = None) -> None:
        super().__init__(message)
        self.report = report


class NotStabilizableError(GeolinError, ArithmeticError):
    """No feedback keeps the state at its operating point; ``report`` says why, if known."""

    def __init__(self, message: str, report: object = None) -> None:
        super().__init__(message)
        self.report = report


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
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5) or names[:8]
    listed = ', '.join(repr(candidate) for candidate in near)
    return UnknownNameError(f'{kind} {name!r} is not part of {where}; did you mean {listed}?')
