# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tell URDF text, path and object apart and bring each to a `Description`.

Objects are parsed robots of urdf_parser_py, urdfpy and yourdfpy: they have ``links`` and
``joints``, and differ in how they keep a pose (xyz and rpy, or 4x4) and an inertia.

Unlike a URDF, a xacro file may include other files and evaluate expressions: expand only files
that you trust. What comes out is read as any URDF text.
"""

import dataclasses
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from geolin_ros.description import Description, Finding, Refused, merged, raise_errors
from geolin_ros.errors import ConfigurationError, ModelWarning, UrdfError
from geolin_ros.urdf.elements import INERTIA, POSE, describe
from geolin_ros.urdf.safe_xml import MAX_BYTES, Located, parse

TEXT_SOURCE = 'URDF text'
BLANKS = '\ufeff \t\r\n'
_given: ContextVar[Mapping[str, str]] = ContextVar('xacro arguments', default=MappingProxyType({}))
_PARTS = {
    'origin': (POSE, 'xyz', 'rpy'),
    'inertia': (INERTIA, 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'),
    'limit': ('', 'lower', 'upper', 'velocity', 'effort'),
    'dynamics': ('', 'damping', 'friction'),
    'mimic': ('', 'joint', 'multiplier', 'offset'),
    'axis': ('xyz',),
    'mass': ('value',),
    'parent': ('link',),
    'child': ('link',),
}
"""The attribute that a part is in objects, if any, and those that it has as in a URDF."""


def read(source: str | bytes | Path | object) -> Description:
    """Return the links and joints of a robot.

    Raises `UrdfError` if the source is unreadable, unsafe, out of bounds, not one tree, or holds
    what no reader can mean: a value that is no finite number, a name that is empty or cannot be
    printed, an axis of no length, a negative mass.

    Parameters
    ----------
    source
        URDF text (``str`` whose first visible character is ``<``, or any ``bytes``), the path of
        a URDF file (``str`` or ``Path``; one that ends in .xacro is expanded, see
        `expand`), or an object of urdfpy's shape: ``urdfpy.URDF``,
        ``yourdfpy.URDF`` or its ``robot``, ``urdf_parser_py.urdf.URDF``.

    Returns
    -------
    Description
        Inertias about the link frames in link axes, placements as 4x4 poses, SI units. Meshes,
        visuals, collisions and vendor tags are ignored; no file but the given one is opened, and
        those that a xacro file includes.

        What urdfdom, the parser of ROS, reads is read as urdfdom does. Where that is not what is
        written a `ModelWarning` says so; ``findings`` of the description hold the same.

    Examples
    --------
    >>> read('<robot name="ball"><link name="base"/></robot>').name
    'ball'
    """
    return _warned(*_examined(source))


def examine(source: str | bytes | Path | object) -> tuple[Description | None, list[Finding]]:
    """Return a description and all that is odd or wrong in it; None where nothing can be read.

    Of a description with errors only what they are not about is to be trusted. Sources as in
    `read`.
    """
    description, found, _ = _examined(source)
    return description, found


def read_text(text: str) -> Description:
    """Return the links and joints of a robot from URDF text, whoever sent it: opens no file.

    What `read` would take for a path is malformed here. Raises `UrdfError` as `read` does.
    """
    return _warned(*_examined(text, is_text=True))


def _warned(description: Description | None, found: list[Finding], source: str) -> Description:
    """Return a description without errors; say what was taken otherwise than written."""
    raise_errors(source, found, UrdfError)
    assert description is not None, 'is refused with an error'
    taken = merged(found)
    for finding in taken:
        warnings.warn(f'{source}: {finding.sentence}', ModelWarning, stacklevel=3)
    return dataclasses.replace(description, findings=tuple(taken))


def _examined(source: Any, is_text: bool = False) -> tuple[Description | None, list[Finding], str]:
    """Return what `examine` does, and a name for the source."""
    found: list[Finding] = []
    name = str(source) if _is_path(source) and not is_text else TEXT_SOURCE
    try:
        if not isinstance(source, bytes | bytearray | str | Path):
            name = f'{type(source).__module__}.{type(source).__qualname__} object'
            root = _elements_of(source, found)
        else:
            root = parse(_encoded(str(source)) if is_text else document(source), found)
        return describe(root, name, found), found, name
    except Refused as refused:
        return None, [*found, refused.finding], name


def _is_path(source: bytes | bytearray | str | Path) -> bool:
    is_text = isinstance(source, str) and source.lstrip(BLANKS).startswith('<')
    return isinstance(source, str | Path) and not is_text


def document(source: str | bytes | bytearray | Path) -> bytes:
    """Return the bytes of a URDF text or file, behind a mark where they are UTF-8 for sure.

    Raises `UrdfError` if a file cannot be read, or xacro cannot expand it.
    """
    if isinstance(source, bytes | bytearray):
        return bytes(source)
    if not _is_path(source):
        return _encoded(str(source))
    if is_xacro(source):
        return _encoded(expand(source))
    try:
        with open(source, 'rb') as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        shown = repr(str(source)[:200])
        raise UrdfError(
            f'{shown}: cannot be read ({getattr(error, "strerror", None) or error}), expected the '
            'path of a URDF file or URDF text starting with "<"; check the path'
        ) from error


def _encoded(text: str) -> bytes:
    # What the declaration says was true of the bytes that this text was decoded from.
    return BOM_UTF8 + text.lstrip(BLANKS).encode('utf-8', 'surrogatepass')


def _elements_of(parsed: Any, found: list[Finding]) -> Located:
    """Return a parsed robot as what its URDF would be; raise `Refused` if it lacks a part."""
    robot = getattr(parsed, 'robot', parsed)
    try:
        root = _element(None, 'robot', name=robot.name)
        made_up = [_add_link(root, link) for link in robot.links]
        for joint in robot.joints or ():
            _add_joint(root, joint)
        for transmission in getattr(robot, 'transmissions', None) or ():  # yourdfpy has none
            element = _element(root, 'transmission')
            for joint in transmission.joints:
                _element(element, 'joint', name=joint.name)
            for actuator in transmission.actuators:
                if (ratio := actuator.mechanicalReduction) is not None:
                    _element(element, 'mechanicalReduction').text = str(ratio)
    except (AttributeError, TypeError) as error:
        raise Refused(
            '',
            f'{error}, expected an object of the shape of urdfpy.URDF (links, joints)',
            'pass URDF text, a path, or such an object',
        ) from error
    names = ', '.join(name for name in made_up if name)
    if names:
        found.append(
            Finding(
                'warning', '',
                f'links {names} have 1 kg and unit inertia, which urdfpy gives to '
                'links without <inertial>, and are read as massless',
                'pass the URDF text if they are meant',
            )
        )  # fmt: skip
    return root


def _element(holder: Located | None, tag: str, **attributes: Any) -> Located:
    """Return a new part of an element, with the attributes that are not None."""
    element = Located(tag)
    for key, value in attributes.items():
        if value is not None:
            element.set(key, value.tolist() if isinstance(value, np.ndarray) else value)
    if holder is not None:
        holder.append(element)
        element.holder = holder
    return element


def _add_parts(holder: Located, of: Any, *tags: str) -> None:
    for tag in tags:
        part, (whole, *several) = getattr(of, tag), _PARTS[tag]
        if part is None:
            continue
        values = {key: getattr(part, key) for key in several if hasattr(part, key)}
        if not values and not whole:
            raise AttributeError(f'{tag} {part!r:.200} has no {" or ".join(several)}')
        _element(holder, tag, **(values or {whole: part}))


def _add_link(root: Located, link: Any) -> str:
    """Add a link; return its name if urdfpy or its fork urchin made its inertial up.

    They give a link without ``<inertial>`` 1 kg and the identity as inertia about its frame.
    """
    element, inertial = _element(root, 'link', name=link.name), link.inertial
    if inertial is None:
        return ''
    if (
        type(link).__module__.split('.')[0] in ('urdfpy', 'urchin')
        and inertial.mass == 1.0
        and np.array_equal(inertial.inertia, np.eye(3))
        and (inertial.origin is None or np.array_equal(inertial.origin, np.eye(4)))
    ):
        return str(link.name)
    _add_parts(_element(element, 'inertial'), inertial, 'mass', 'origin', 'inertia')
    return ''


def _add_joint(root: Located, joint: Any) -> None:
    kind = getattr(joint, 'joint_type', None) or joint.type
    element = _element(root, 'joint', name=joint.name, type=kind)
    _add_parts(element, joint, 'parent', 'child', 'origin', 'axis', 'limit', 'dynamics', 'mimic')


@contextmanager
def xacro_arguments(values: Mapping[str, str]) -> Iterator[None]:
    """Give every xacro file that is expanded inside these values of its ``<xacro:arg>``."""
    before = _given.set({**_given.get(), **values})
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


def expand(path: str | Path) -> str:
    """Return the URDF text of a xacro file, by `xacro_arguments` and its own defaults.

    Raises `UrdfError` if xacro is not installed, or cannot expand the file.
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
        return str(xacro.process_file(str(path), mappings=dict(_given.get())).toxml())
    except Exception as error:  # whatever expressions and included files do
        raise UrdfError(
            f'{path}: cannot be expanded by xacro: {type(error).__name__}: {error}; correct it, '
            'give the values of its <xacro:arg> (--xacro-args NAME:=VALUE, parameter xacro_args), '
            f'or give the result of `xacro {path} > robot.urdf`'
        ) from error
