# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tell URDF text, path and object apart and bring each to a `Description`."""

from codecs import BOM_UTF8
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

from urdf_parser_py.urdf import URDF
from urdf_parser_py.xml_reflection.core import ParseError

from geolin_ros.description import Description
from geolin_ros.errors import UrdfError
from geolin_ros.urdf.objects import describe
from geolin_ros.urdf.safe_xml import MAX_BYTES, is_decimal, one_line, read_robot
from geolin_ros.urdf.xacro_file import expand, is_xacro

TEXT_SOURCE = 'URDF text'
BLANKS = '\ufeff \t\r\n'


def read(source: str | bytes | Path | object) -> Description:
    """Return the links and joints of a robot.

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

    Raises
    ------
    UrdfError
        If the source is unreadable, unsafe, malformed, out of bounds, or not one tree.

    Examples
    --------
    >>> read('<robot name="ball"><link name="base"/></robot>').name
    'ball'
    """
    if isinstance(source, bytes | bytearray):
        return _read_bytes(bytes(source), TEXT_SOURCE)
    if isinstance(source, str):
        text = source.lstrip(BLANKS)
        if text.startswith('<'):
            return read_text(text)
    if isinstance(source, str | Path):
        if is_xacro(source):
            return read_text(expand(source), str(source))
        return _read_bytes(_load(source), str(source))
    return describe(source, f'{type(source).__module__}.{type(source).__qualname__} object')


def read_text(text: str, source: str = TEXT_SOURCE) -> Description:
    """Return the links and joints of a robot from URDF text, whoever sent it: opens no file.

    Parameters
    ----------
    text
        What `read` would take for a path is malformed here.
    source
        Opens every error message.

    Raises
    ------
    UrdfError
        As `read` does.
    """
    text = text.lstrip(BLANKS)
    try:
        data = text.encode('utf-8')
    except UnicodeEncodeError as error:
        raise UrdfError(
            f'{source}: character {error.start} cannot be encoded ({error.reason}), '
            'expected Unicode text; pass the bytes of the file instead'
        ) from error
    # What the declaration says was true of the bytes that this text was decoded from.
    return _read_bytes(data, source, encoding='utf-8')


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


def _read_bytes(data: bytes, source: str, encoding: str | None = None) -> Description:
    if data.startswith(BOM_UTF8):
        data, encoding = data.removeprefix(BOM_UTF8), 'utf-8'
    data = data.lstrip(b' \t\r\n')  # an XML declaration may not follow blanks
    robot = read_robot(data, source, encoding)
    gear_ratios = _take_gear_ratios(robot, source)
    try:
        # Not from_xml_string: its first call fills a table of the library, unsafe in threads.
        parsed = URDF().parse(tostring(robot, encoding='utf-8'))
    except ParseError as error:
        raise UrdfError(
            f'{source}: {one_line(error.path)}: {one_line(error.e)}, '
            'expected a complete URDF element; add what is missing'
        ) from error
    return describe(parsed, source, gear_ratios)


def _take_gear_ratios(robot: Element, source: str) -> dict[str, float]:
    """Remove the transmissions; return joint name -> reduction of those that drive one joint.

    The parser library wants parts of a transmission that many files leave out.
    """
    ratios = {}
    for transmission in robot.findall('transmission'):
        robot.remove(transmission)
        joints = transmission.findall('joint')
        reductions = [
            element.text or ''
            for element in transmission.iter()
            if element.tag in ('mechanicalReduction', 'mechanical_reduction')
        ]
        if len(joints) != 1 or len(reductions) != 1:
            continue  # differentials and the like have no single ratio
        name, text = joints[0].get('name', ''), reductions[0].strip()
        if not is_decimal(text):
            raise UrdfError(
                f'{source}: transmission of joint {name!r}: mechanicalReduction is '
                f'{text[:80]!r}, expected a decimal number; correct it'
            )
        ratios[name] = float(text)
    return ratios
