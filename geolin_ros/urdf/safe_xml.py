# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Untrusted XML in, a small tree of known elements out, and a list of what was odd in it.

Entities are refused, size and depth are bounded, and only what the dynamics need is kept: visuals,
collisions and vendor tags are dropped unread, so no mesh or file name survives. What urdfdom, the
parser of ROS, takes otherwise than it is written is taken as urdfdom does, with a warning.
"""

import math
import re
from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from xml.etree.ElementTree import Element, SubElement, TreeBuilder
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, InputSource, Locator

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from geolin_ros.description import Finding, Refused, Severity
from geolin_ros.errors import nearest

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
    are ``required`` an element means nothing. Of children that are ``single`` the first counts.
    ``unread`` children are known to others; where there are some, others are asked about.
    """

    attributes: dict[str, int | tuple[str, ...]] = field(default_factory=dict)
    children: dict[str, 'Known'] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    single: bool = True
    unread: tuple[str, ...] = ()
    text: bool = False


MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
ORIGIN = Known({'xyz': 3, 'rpy': 3, 'quat_xyzw': 4})
REDUCTION = Known(text=True)
TRANSMISSION_PART = Known(
    {'name': NAME},
    {'mechanicalReduction': REDUCTION, 'mechanical_reduction': REDUCTION},
    single=False,
)
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
TRANSMISSION = Known(
    children={
        'joint': TRANSMISSION_PART,
        'actuator': TRANSMISSION_PART,
        'mechanicalReduction': REDUCTION,
    },
    single=False,
)
ROBOT = Known(
    {'name': NAME, 'version': NAME},
    {'link': LINK, 'joint': JOINT, 'transmission': TRANSMISSION},
    required=('name',),
    single=False,
    unread=('material', 'gazebo', 'sensor'),
)
DOCUMENT = Known(children={'robot': ROBOT})

# What a joint of these types has no use for, urdfdom does not look at either.
_UNUSED = {'fixed': ('axis',), 'floating': ('axis',)}
# What stands for a malformed value once it is an error, so that nothing more is reported of it.
_HARMLESS = {'value': '1', 'effort': 'inf', 'velocity': 'inf', 'type': 'fixed'}
_HARMLESS |= dict.fromkeys(MOMENTS, '1')


def read_robot(data: bytes, found: list[Finding], encoding: str | None = None) -> Element:
    """Return the ``<robot>`` element with known elements and attributes only.

    Every numeric attribute of the result holds the right count of decimal numbers (not yet
    bounded), every other one a non-empty printable string; links and joints have their names.

    Parameters
    ----------
    data
        The document.
    found
        What is odd or wrong is appended. After an error a harmless value stands for what was
        malformed, and the element is left out where nothing can.
    encoding
        Overrides the encoding that the document declares.

    Raises
    ------
    Refused
        If the document holds a DTD, exceeds a bound, or is no URDF at all.
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
        return _parse(data, found, encoding)
    except _IllFormedError as error:
        mended = _mended(data)
        if mended == data:
            raise error.refused() from error
        anew: list[Finding] = []
        try:
            robot = _parse(mended, anew, encoding)
        except _IllFormedError:
            raise error.refused() from error
        found.append(
            Finding(
                'warning', '', f'not well-formed XML: {error.reason}: read as urdfdom does',
                'check the file with an XML tool such as xmllint',
            )
        )  # fmt: skip
        found += anew
        return robot


class _IllFormedError(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def refused(self) -> Refused:
        return Refused(
            '', f'not well-formed XML: {self.reason}',
            'check the file with an XML tool such as xmllint',
        )  # fmt: skip


def _parse(data: bytes, found: list[Finding], encoding: str | None) -> Element:
    handler = _Keeper(found)
    parser = DefusedExpatParser(forbid_dtd=True)
    parser.setContentHandler(handler)
    document = InputSource()
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
    return handler.close()


_COMMENT = re.compile(rb'<!--.*?-->', re.DOTALL)
_BARE_AMPERSAND = re.compile(rb'&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)')
_END = b'</robot>'


def _mended(data: bytes) -> bytes:
    """Return a document without what tinyxml2 (urdfdom's XML parser) passes over, lines kept."""
    data = _COMMENT.sub(lambda comment: b'\n' * comment[0].count(b'\n'), data)
    data = _BARE_AMPERSAND.sub(b'&amp;', data)
    end = data.find(_END)
    return data if end < 0 else data[: end + len(_END)]


class _Keeper(ContentHandler):
    """Build the tree of known elements; count, bound and check on the way."""

    def __init__(self, found: list[Finding]) -> None:
        super().__init__()
        self._found = found
        self._line: Callable[[], int | None] = lambda: None
        self._builder = TreeBuilder()
        self._known: list[Known | None] = [DOCUMENT]
        self._open: list[Element] = []
        self._dropped: list[tuple[Element, Element]] = []
        self._elements = 0

    def setDocumentLocator(self, locator: Locator) -> None:
        self._line = locator.getLineNumber

    def close(self) -> Element:
        robot: Element = self._builder.close()
        for parent, child in self._dropped:
            parent.remove(child)
        return robot

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise self._refused(f'more than {MAX_ELEMENTS} elements', 'split the robot')
        if len(self._known) > MAX_DEPTH:
            raise self._refused(f'elements nested deeper than {MAX_DEPTH}', 'remove the nesting')
        if name.startswith('xacro:'):
            raise self._refused(
                f'<{name[:80]}> is an unexpanded xacro macro',
                'expand the file first: xacro robot.urdf.xacro > robot.urdf',
            )
        if len(self._known) == 1 and name != 'robot':
            raise self._refused(f'root element is <{name[:80]}>, expected <robot>', 'pass a URDF')
        parent = self._known[-1]
        known = parent.children.get(name) if parent else None
        if self._open and parent is not None:
            if known is None and parent.unread:
                self._ask_what_is_meant(name, [*parent.children, *parent.unread], '<{}>')
            elif known is not None and self._is_unused(name, known):
                known = None
        self._known.append(known)
        if known is not None:
            self._keep(name, known, attrs)

    def endElement(self, name: str) -> None:
        if self._known.pop() is not None:
            if name == 'inertial':
                self._complete_inertial(self._open[-1])
            elif name == 'joint' and self._open[-2].tag == 'robot':
                self._complete_joint(self._open[-1])
            self._builder.end(name)
            self._open.pop()

    def characters(self, content: str) -> None:
        known = self._known[-1]
        if known is not None and known.text:
            self._builder.data(content)

    def _is_unused(self, name: str, known: Known) -> bool:
        parent = self._open[-1]
        if name in _UNUSED.get(parent.get('type', ''), ()):
            return True
        if parent.tag == 'robot' or not known.single or parent.find(name) is None:
            return False
        self._say('warning', f'more than one <{name}>: the first is taken', 'remove the others')
        return True

    def _ask_what_is_meant(self, name: str, known: list[str], shown: str) -> None:
        near = [] if name in known or ':' in name else nearest(name, known, WORDS_ALIKE)
        if near:
            wrong, right = shown.format(name[:80]), shown.format(near[0])
            self._say('warning', f'{wrong} is not read', f'did you mean {right}?')

    def _keep(self, name: str, known: Known, attrs: AttributesImpl) -> None:
        kept = {key: attrs[key] for key in known.attributes if key in attrs}
        element = self._builder.start(name, kept)
        self._open.append(element)
        for key, value in list(kept.items()):
            error = self._error(key, value, known.attributes[key])
            if error is not None:
                self._say('error', *error)
                del element.attrib[key]
                if key in _HARMLESS:
                    element.set(key, _HARMLESS[key])
        absent = [key for key in known.attributes if key not in attrs]
        for key in attrs.keys():  # noqa: SIM118 - not a mapping
            if key not in known.attributes:
                self._ask_what_is_meant(key, absent, 'attribute {}')
        for key in known.required:
            if key not in element.attrib:
                if key not in attrs:
                    self._say('error', f'attribute {key} is missing', f'add {key}="..."')
                if name == 'robot':
                    element.set(key, 'robot')
                else:
                    self._drop(element)
                break
        if known is ORIGIN:
            self._check_angles(element.get('rpy', ''))
            self._turn(element)
        elif name == 'limit':
            for key in ('effort', 'velocity'):
                if key not in element.attrib:
                    self._say('warning', f'no {key}: taken as no limit', f'add {key}="..."')
                    element.set(key, 'inf')

    def _drop(self, element: Element) -> None:
        if len(self._open) > 1 and all(element is not child for _, child in self._dropped):
            self._dropped.append((self._open[-2], element))

    def _check_angles(self, rpy: str) -> None:
        if any(math.tau + 0.01 < abs(float(angle)) < math.inf for angle in rpy.split()):
            self._say('warning', f'rpy="{rpy}" is more than a turn', 'write radians, not degrees')

    def _turn(self, origin: Element) -> None:
        """Keep one of rpy and quat_xyzw, as of the version of the document."""
        quaternion = origin.attrib.pop('quat_xyzw', None)
        if quaternion is None:
            return
        x, y, z, w = (float(number) for number in quaternion.split())
        norm = math.hypot(x, y, z, w)
        if self._open[0].get('version', '1.0') in ('1', '1.0'):
            self._say(
                'warning', 'quat_xyzw is ignored in a URDF of version 1.0',
                'write <robot version="1.1">, or rpy="roll pitch yaw"',
            )  # fmt: skip
        elif 'rpy' in origin.attrib:
            self._say('error', 'both rpy and quat_xyzw', 'remove one')
        elif not 0.0 < norm < math.inf:
            self._say('error', f'quat_xyzw={quaternion!r} is no rotation', 'write "0 0 0 1"')
        else:
            rpy = _roll_pitch_yaw(x / norm, y / norm, z / norm, w / norm)
            origin.set('rpy', ' '.join(repr(angle) for angle in rpy))

    def _complete_inertial(self, inertial: Element) -> None:
        """Make up what is missing as urdfdom does: no mass at all, or a point mass."""
        mass, inertia = inertial.find('mass'), inertial.find('inertia')
        if mass is None or 'value' not in mass.attrib:
            self._say('warning', 'no mass value: taken as massless', 'add <mass value="..."/>')
            self._drop(inertial)
            return
        missing = MOMENTS if inertia is None else [k for k in MOMENTS if k not in inertia.attrib]
        if inertia is None:
            self._say(
                'warning', 'no <inertia>: taken as a point mass', 'add <inertia ixx="..." .../>'
            )
            inertia = SubElement(inertial, 'inertia')
        elif missing:
            self._say(
                'warning', f'<inertia> has no {", ".join(missing)}: taken as a point mass',
                f'add {missing[0]}="..."',
            )  # fmt: skip
        if missing:
            inertia.attrib.update(dict.fromkeys(MOMENTS, '0'))

    def _complete_joint(self, joint: Element) -> None:
        for role in ('parent', 'child'):
            end = joint.find(role)
            if end is None:
                self._say('error', f'no <{role}>', f'add <{role} link="..."/>')
            if end is None or 'link' not in end.attrib:
                self._drop(joint)
                break

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
            raise self._refused(f'more than {MAX_FINDINGS} oddities', 'pass a URDF')
        self._found.append(Finding(severity, self._where(), problem, fix))

    def _refused(self, problem: str, fix: str) -> Refused:
        return Refused(self._where(), problem, fix)

    def _where(self) -> str:
        labels = []
        for element in self._open[1:] or self._open:
            name = element.get('name', '')[:80]
            labels.append(f'{element.tag} {name!r}' if name else f'<{element.tag}>')
        return ', '.join([f'line {self._line()}', *labels])


def _roll_pitch_yaw(x: float, y: float, z: float, w: float) -> tuple[float, float, float]:
    """Return the angles of a unit quaternion about fixed axes [rad]."""
    return (
        math.atan2(2.0 * (w * x + y * z), w * w - x * x - y * y + z * z),
        math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x)))),
        math.atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z),
    )


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
