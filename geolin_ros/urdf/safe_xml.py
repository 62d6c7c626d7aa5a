# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Untrusted XML in, an object of known elements out, and a list of what was odd in it.

Entities are refused, size and depth are bounded, and only what the dynamics need is kept: visuals,
collisions and vendor tags are dropped unread, so no mesh or file name survives. What urdfdom, the
parser of ROS, takes otherwise than it is written is taken as urdfdom does, with a warning.
"""

import math
import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import BytesIO
from types import SimpleNamespace
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, InputSource, Locator

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from geolin_ros.description import Finding, Refused, Severity
from geolin_ros.errors import nearest
from geolin_ros.spatial import se3

MAX_BYTES = 20_000_000
MAX_ELEMENTS = 200_000
MAX_DEPTH = 100
MAX_ATTRIBUTE_LENGTH = 1_000
MAX_FINDINGS = 1_000

URDF_KINDS = ('revolute', 'continuous', 'prismatic', 'fixed', 'planar', 'floating')
NAME = 0
WORDS_ALIKE = 0.75
"""Likeness from which an unknown element or attribute is taken for a misspelled one."""


@dataclass(frozen=True)
class Known:
    """An element that is kept: its attributes (what each holds) and its children.

    An attribute holds a count of numbers, a `NAME`, or one of several words. Without those that
    are ``required`` an element means nothing. ``unread`` children are known to others; where
    there are some, others are asked about.
    """

    attributes: dict[str, int | tuple[str, ...]] = field(default_factory=dict)
    children: dict[str, 'Known'] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
ORIGIN = Known({'xyz': 3, 'rpy': 3, 'quat_xyzw': 4})
PART = Known({'name': NAME})
LINK_NAME = Known({'link': NAME}, required=('link',))
LINK = Known(
    {'name': NAME},
    {
        'inertial': Known(
            children={
                'origin': ORIGIN,
                'mass': Known({'value': 1}),
                'inertia': Known(dict.fromkeys(MOMENTS, 1)),
            },
            unread=('inertial',),
        )
    },
    required=('name',),
    unread=('visual', 'collision'),
)
JOINT = Known(
    {'name': NAME, 'type': URDF_KINDS},
    {
        'origin': ORIGIN,
        'axis': Known({'xyz': 3}, required=('xyz',)),
        'parent': LINK_NAME,
        'child': LINK_NAME,
        'limit': Known(dict.fromkeys(('lower', 'upper', 'velocity', 'effort'), 1)),
        'dynamics': Known({'damping': 1, 'friction': 1}),
        'mimic': Known({'joint': NAME, 'multiplier': 1, 'offset': 1}, required=('joint',)),
    },
    required=('name', 'type'),
    unread=('calibration', 'safety_controller'),
)
TRANSMISSION = Known(children={'joint': PART, 'actuator': PART})
ROBOT = Known(
    {'name': NAME, 'version': NAME},
    {'link': LINK, 'joint': JOINT, 'transmission': TRANSMISSION},
    required=('name',),
    unread=('material', 'gazebo', 'sensor'),
)

# What a joint of these types has no use for, urdfdom does not look at either.
_UNUSED = {'fixed': ('axis',), 'floating': ('axis',)}
# What stands for a malformed value once it is an error, so that nothing more is reported of it.
_HARMLESS = {'value': 1.0, 'effort': math.inf, 'velocity': math.inf, 'type': 'fixed'}
_HARMLESS |= dict.fromkeys(MOMENTS, 1.0)


def read_robot(data: bytes, encoding: str | None, found: list[Finding]) -> Any:
    """Return known elements and attributes of the ``<robot>`` element, in the shape of urdfpy.

    Numbers are decimal but not yet bounded, and as many as an attribute has to hold; every other
    attribute is a non-empty printable string; links and joints have their names. An element of one
    attribute is its value, what is left out is None. Raises `Refused` if the document holds a DTD,
    exceeds a bound, or is no URDF at all.

    Parameters
    ----------
    encoding
        Overrides the encoding that the document declares.
    found
        What is odd or wrong is appended. After an error a harmless value stands for what was
        malformed, and the element is left out where nothing can.
    """
    root = parse(data, encoding, found)
    if root.tag != 'robot':
        raise Refused(
            f'line {root.line}', f'root element is <{root.tag[:80]}>, expected <robot>',
            'pass a URDF',
        )  # fmt: skip
    return _Keeper(found, root).keep(root, ROBOT)


def parse(data: bytes, encoding: str | None, found: list[Finding]) -> 'Located':
    """Return the root of a document, prefixes that nobody declared as they are.

    Raises `Refused` if the document cannot be read, holds a DTD, a macro of xacro, or exceeds a
    bound.

    Parameters
    ----------
    data, encoding, found
        As of `read_robot`: what is not well-formed is read as urdfdom does, if that is possible.
    """
    if len(data) > MAX_BYTES:
        raise Refused(
            '', f'{len(data)} bytes, expected at most {MAX_BYTES}',
            'a URDF names its meshes, it does not embed them',
        )  # fmt: skip
    if data.startswith(BOM_UTF8):
        data, encoding = data.removeprefix(BOM_UTF8), 'utf-8'
    data = data.lstrip(b' \t\r\n')  # an XML declaration may not follow blanks
    try:
        return _parse(data, encoding)
    except _IllFormedError as error:
        mended, fix = _mended(data), 'check the file with an XML tool such as xmllint'
        problem = f'not well-formed XML: {error}'
        try:
            if mended == data:
                raise
            root = _parse(mended, encoding)
        except _IllFormedError:
            raise Refused('', problem, fix) from error
        found.append(Finding('warning', '', f'{problem}: read as urdfdom does', fix))
        return root


class _IllFormedError(Exception):
    pass


class Located(Element):
    """An element that knows its line in the document."""

    line = 0


class _Builder(ContentHandler):
    """Builds the tree of all elements, counts and bounds them."""

    def __init__(self) -> None:
        super().__init__()
        self.tree: Any = TreeBuilder(element_factory=Located)
        self._elements = self._depth = 0
        self._locator: Locator

    def setDocumentLocator(self, locator: Locator) -> None:
        self._locator = locator

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        self._elements += 1
        self._depth += 1
        element = self.tree.start(name, dict(attrs))
        element.line = self._locator.getLineNumber()
        problem = ''
        if self._elements > MAX_ELEMENTS:
            problem, fix = f'more than {MAX_ELEMENTS} elements', 'split the robot'
        elif self._depth > MAX_DEPTH:
            problem, fix = f'elements nested deeper than {MAX_DEPTH}', 'remove the nesting'
        elif name.startswith('xacro:'):
            problem = f'<{name[:80]}> is an unexpanded xacro macro'
            fix = 'expand the file first: xacro robot.urdf.xacro > robot.urdf'
        if problem:
            raise Refused(f'line {element.line}', problem, fix)

    def endElement(self, name: str) -> None:
        self._depth -= 1
        self.tree.end(name)

    def characters(self, content: str) -> None:
        self.tree.data(content)


def _parse(data: bytes, encoding: str | None) -> Located:
    handler, parser, document = _Builder(), DefusedExpatParser(forbid_dtd=True), InputSource()
    parser.setContentHandler(handler)
    document.setByteStream(BytesIO(data))
    if encoding is not None:
        document.setEncoding(encoding)
    try:
        parser.parse(document)
    except DefusedXmlException as error:
        raise Refused(
            '', f'holds a DTD or entity ({type(error).__name__}), expected plain XML',
            'remove the <!DOCTYPE ...> declaration',
        ) from error  # fmt: skip
    # Encodings fail in expat with LookupError (unknown) or ValueError (multi-byte, undecodable).
    except (SAXException, LookupError, ValueError) as error:
        raise _IllFormedError(_reason(error)) from error
    root: Located = handler.tree.close()
    return root


_COMMENT = re.compile(rb'<!--.*?-->', re.DOTALL)
_BARE_AMPERSAND = re.compile(rb'&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)')
_END = b'</robot>'


def _mended(data: bytes) -> bytes:
    """Return a document without what tinyxml2 (urdfdom's XML parser) passes over, lines kept."""
    data = _COMMENT.sub(lambda comment: b'\n' * comment[0].count(b'\n'), data)
    data = _BARE_AMPERSAND.sub(b'&amp;', data)
    end = data.find(_END)
    return data if end < 0 else data[: end + len(_END)]


class _Keeper:
    """Makes objects of known elements, checked on the way."""

    def __init__(self, found: list[Finding], root: Located) -> None:
        self._found, self._root = found, root
        self._open: list[Located] = []
        self._line = 0

    def keep(self, element: Any, known: Known) -> Any:
        """Return an element as an object, None if it means nothing."""
        self._open.append(element)
        self._line = element.line
        is_whole, values = self._attributes(element, known)
        parts: dict[str, list[Any]] = {name: [] for name in known.children}
        for child in element:
            self._line, name = child.line, child.tag
            part = known.children.get(name)
            if part is None:
                if known.unread:
                    self._ask_what_is_meant(name, [*known.children, *known.unread], '<{}>')
            elif name in _UNUSED.get(values.get('type', ''), ()):
                continue
            elif parts[name] and known not in (ROBOT, TRANSMISSION):
                problem = f'more than one <{name}>: the first is taken'
                self._say('warning', problem, 'remove the others')
            else:
                parts[name].append(self.keep(child, part))
        self._line = element.line
        for name, kept in parts.items():
            values[name] = kept[0] if kept else None
        if element.tag == 'inertial':
            is_whole = self._complete_inertial(values)
        elif known is JOINT:
            role = next((role for role in ('parent', 'child') if values[role] is None), '')
            if role and not parts[role]:
                self._say('error', f'no <{role}>', f'add <{role} link="..."/>')
            is_whole = is_whole and not role
        elif known is ROBOT:
            for name, kept in parts.items():
                values[f'{name}s'] = [one for one in kept if one is not None]
        self._open.pop()
        if known is TRANSMISSION:
            return self._transmission(element)
        if not is_whole:
            return None
        return next(iter(values.values())) if len(values) == 1 else SimpleNamespace(**values)

    def _ask_what_is_meant(self, name: str, known: list[str], shown: str) -> None:
        near = [] if name in known or ':' in name else nearest(name, known, WORDS_ALIKE)
        if near:
            wrong, right = shown.format(name[:80]), shown.format(near[0])
            self._say('warning', f'{wrong} is not read', f'did you mean {right}?')

    def _attributes(self, element: Located, known: Known) -> tuple[bool, dict[str, Any]]:
        """Return whether none is missing that an element needs, and the values of all."""
        values: dict[str, Any] = dict.fromkeys(known.attributes)
        for key, holds in known.attributes.items():
            text = element.get(key)
            if text is None:
                continue
            error = self._error(key, text, holds)
            if error is not None:
                self._say('error', *error)
                values[key] = _HARMLESS.get(key)
            elif isinstance(holds, int) and holds != NAME:
                numbers = [float(number) for number in text.split()]
                values[key] = numbers[0] if holds == 1 else numbers
            else:
                values[key] = text
        absent = [key for key in known.attributes if key not in element.attrib]
        for key in element.attrib:
            if key not in known.attributes:
                self._ask_what_is_meant(key, absent, 'attribute {}')
        missing = next((key for key in known.required if values[key] is None), '')
        if missing and missing not in element.attrib:
            self._say('error', f'attribute {missing} is missing', f'add {missing}="..."')
        if known is ROBOT:
            values['name'] = values['name'] or 'robot'
        elif known is ORIGIN:
            self._check_angles(element.get('rpy', ''), values['rpy'] or ())
            self._turn(element, values)
        elif element.tag == 'limit':
            for key in ('effort', 'velocity'):
                if values[key] is None:
                    self._say('warning', f'no {key}: taken as no limit', f'add {key}="..."')
                    values[key] = math.inf
        return known is ROBOT or not missing, values

    def _check_angles(self, rpy: str, angles: Iterable[float]) -> None:
        if any(math.tau + 0.01 < abs(angle) < math.inf for angle in angles):
            self._say('warning', f'rpy="{rpy}" is more than a turn', 'write radians, not degrees')

    def _turn(self, origin: Located, values: dict[str, Any]) -> None:
        """Keep one of rpy and quat_xyzw, as of the version of the document."""
        quaternion = values.pop('quat_xyzw')
        if quaternion is None:
            return
        norm = math.hypot(*quaternion)
        if self._root.get('version', '1.0') in ('1', '1.0'):
            self._say(
                'warning', 'quat_xyzw is ignored in a URDF of version 1.0',
                'write <robot version="1.1">, or rpy="roll pitch yaw"',
            )  # fmt: skip
        elif values['rpy'] is not None:
            self._say('error', 'both rpy and quat_xyzw', 'remove one')
        elif not 0.0 < norm < math.inf:
            text = origin.get('quat_xyzw')
            self._say('error', f'quat_xyzw={text!r} is no rotation', 'write "0 0 0 1"')
        else:
            rotation = se3.rotation_from_quaternion(quaternion)
            values['rpy'] = se3.rpy_from_rotation(rotation).tolist()

    def _complete_inertial(self, values: dict[str, Any]) -> bool:
        """Make up what is missing as urdfdom does: no mass at all (False), or a point mass."""
        if values['mass'] is None:
            self._say('warning', 'no mass value: taken as massless', 'add <mass value="..."/>')
            return False
        inertia = values['inertia']
        missing = [key for key in MOMENTS if inertia and getattr(inertia, key) is None]
        if inertia is None:
            self._say(
                'warning', 'no <inertia>: taken as a point mass', 'add <inertia ixx="..." .../>'
            )
        elif missing:
            self._say(
                'warning', f'<inertia> has no {", ".join(missing)}: taken as a point mass',
                f'add {missing[0]}="..."',
            )  # fmt: skip
        if inertia is None or missing:
            values['inertia'] = SimpleNamespace(**dict.fromkeys(MOMENTS, 0.0))
        return True

    def _transmission(self, transmission: Located) -> Any:
        """Return one that drives one joint by one reduction, else None."""
        joints = transmission.findall('joint')
        reductions = [
            element.text or ''
            for element in transmission.iter()
            if element.tag in ('mechanicalReduction', 'mechanical_reduction')
        ]
        if len(joints) != 1 or len(reductions) != 1:
            return None  # differentials and the like have no single ratio
        name, text = joints[0].get('name', ''), reductions[0].strip()
        ratio = float(text) if is_decimal(text) else math.nan
        if ratio == 0.0 or not math.isfinite(ratio):
            self._found.append(
                Finding(
                    'warning', f'joint {name!r}',
                    f'mechanicalReduction is {text[:80]!r}: taken as 1',
                    'write the gear ratio of the transmission',
                )
            )  # fmt: skip
            return None
        actuator = SimpleNamespace(mechanicalReduction=ratio)
        return SimpleNamespace(joints=[SimpleNamespace(name=name)], actuators=[actuator])

    def _error(self, key: str, value: str, holds: int | tuple[str, ...]) -> tuple[str, str] | None:
        """Return what is wrong with an attribute, and the fix."""
        if len(value) > MAX_ATTRIBUTE_LENGTH:
            return (
                f'{key} has {len(value)} characters, expected at most {MAX_ATTRIBUTE_LENGTH}',
                'shorten it',
            )
        if isinstance(holds, tuple):
            if value in holds:
                return None
            near = nearest(value, holds, WORDS_ALIKE)
            fix = f'did you mean {near[0]}?' if near else f'correct {key}'
            return f'{key}={value!r}, expected one of {", ".join(holds)}', fix
        if holds == NAME:
            if value and value.isprintable():
                return None
            return f'{key}={value!r}, expected a non-empty printable text', 'change the name'
        numbers = value.split()
        if len(numbers) != holds:
            return (
                f'{key}={value!r} holds {len(numbers)} numbers, expected {holds}',
                f'write {key}="{" ".join(["0"] * holds)}" or the like',
            )
        for number in numbers:
            if not is_decimal(number):
                return (
                    f'{key}={value!r}: {number!r} is not a number, expected a decimal number',
                    'write it like 0.5 or 1e-3',
                )
        return None

    def _say(self, severity: Severity, problem: str, fix: str) -> None:
        if len(self._found) >= MAX_FINDINGS:
            raise Refused(self._where(), f'more than {MAX_FINDINGS} oddities', 'pass a URDF')
        self._found.append(Finding(severity, self._where(), problem, fix))

    def _where(self) -> str:
        labels = []
        for element in self._open[1:] or self._open:
            name = element.get('name', '')[:80]
            labels.append(f'{element.tag} {name!r}' if name else f'<{element.tag}>')
        return ', '.join([f'line {self._line}', *labels])


def is_decimal(text: str) -> bool:
    """Say whether a token is a number as C reads it; Python's digits like 1_000 are not."""
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and '_' not in text


def _reason(error: Exception) -> str:
    if isinstance(error, SAXParseException):
        return f'{one_line(error.getMessage())} in line {error.getLineNumber()}'
    return one_line(error)


def one_line(error: object) -> str:
    """Return the message of a foreign error, control characters escaped, cut to a line."""
    return ''.join(c if c.isprintable() else repr(c)[1:-1] for c in str(error)[:300])
