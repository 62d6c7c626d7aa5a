# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tell URDF text, path and object apart and bring each to a `Description`."""

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from geolin_ros.description import Description, Finding, Refused, merged, raise_errors
from geolin_ros.errors import ModelWarning, UrdfError
from geolin_ros.urdf.objects import describe
from geolin_ros.urdf.safe_xml import MAX_BYTES, read_robot
from geolin_ros.urdf.xacro_file import expand, is_xacro

TEXT_SOURCE = 'URDF text'
BLANKS = '\ufeff \t\r\n'


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
        `geolin_ros.urdf.xacro_file`), or an object of urdfpy's shape: ``urdfpy.URDF``,
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


def read_text(text: str, source: str = TEXT_SOURCE) -> Description:
    """Return the links and joints of a robot from URDF text, whoever sent it: opens no file.

    Raises `UrdfError` as `read` does.

    Parameters
    ----------
    text
        What `read` would take for a path is malformed here.
    source
        Opens every error message.
    """
    return _warned(*_collected(lambda found: _read_bytes(*_encoded(text), source, found), source))


def _warned(description: Description | None, found: list[Finding], source: str) -> Description:
    """Return a description without errors; say what was taken otherwise than written."""
    raise_errors(source, found, UrdfError)
    if description is None:
        raise UrdfError(f'{source}: cannot be read')
    taken = merged(found)
    for finding in taken:
        warnings.warn(f'{source}: {finding.sentence}', ModelWarning, stacklevel=3)
    return dataclasses.replace(description, findings=tuple(taken))


def _collected(
    read: Callable[[list[Finding]], Description], source: str
) -> tuple[Description | None, list[Finding], str]:
    found: list[Finding] = []
    try:
        description = read(found)
    except Refused as refused:
        return None, [*found, refused.finding], source
    return description, found, source


def _examined(source: Any) -> tuple[Description | None, list[Finding], str]:
    if not isinstance(source, bytes | bytearray | str | Path):
        name = f'{type(source).__module__}.{type(source).__qualname__} object'
        return _collected(lambda found: describe(source, name, found), name)
    is_text = not isinstance(source, Path) and not _is_path(source)
    name = TEXT_SOURCE if is_text else str(source)

    def from_text(found: list[Finding]) -> Description:
        return _read_bytes(*document(source), name, found)

    return _collected(from_text, name)


def _is_path(source: bytes | bytearray | str) -> bool:
    return isinstance(source, str) and not source.lstrip(BLANKS).startswith('<')


def document(source: str | bytes | bytearray | Path) -> tuple[bytes, str | None]:
    """Return the bytes of a URDF text or file, and their encoding where it is known.

    Raises `UrdfError` if a file cannot be read, or xacro cannot expand it; `Refused` if a text
    cannot be encoded.
    """
    if isinstance(source, bytes | bytearray):
        return bytes(source), None
    if isinstance(source, Path) or _is_path(source):
        if not is_xacro(source):
            return _load(source), None
        source = expand(source)
    return _encoded(str(source))


def _encoded(text: str) -> tuple[bytes, str]:
    text = text.lstrip(BLANKS)
    try:
        # What the declaration says was true of the bytes that this text was decoded from.
        return text.encode('utf-8'), 'utf-8'
    except UnicodeEncodeError as error:
        raise Refused(
            '',
            f'character {error.start} cannot be encoded ({error.reason}), expected Unicode text',
            'pass the bytes of the file instead',
        ) from error


def _load(path: str | Path) -> bytes:
    try:
        with open(path, 'rb') as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        shown = repr(str(path)[:200])
        raise UrdfError(
            f'{shown}: cannot be read ({getattr(error, "strerror", None) or error}), expected the '
            'path of a URDF file or URDF text starting with "<"; check the path'
        ) from error


def _read_bytes(
    data: bytes, encoding: str | None, source: str, found: list[Finding]
) -> Description:
    return describe(read_robot(data, encoding, found), source, found)
