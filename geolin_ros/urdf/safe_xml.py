# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Untrusted XML in, a small well-formed tree of known elements out.

DTDs and entities are refused, size and depth are bounded, and only what the dynamics need is kept:
visuals, collisions and vendor tags are dropped unread, so no mesh or file name survives.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from xml.etree.ElementTree import Element, TreeBuilder
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, InputSource, Locator

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from geolin_ros.errors import UrdfError

MAX_BYTES = 20_000_000
MAX_ELEMENTS = 200_000
MAX_DEPTH = 100
MAX_ATTRIBUTE_LENGTH = 1_000

URDF_KINDS = ('revolute', 'continuous', 'prismatic', 'fixed', 'planar', 'floating')
NAME = 0


@dataclass(frozen=True)
class Known:
    """An element that is kept: its attributes (what each holds) and its children.

    An attribute holds a count of numbers, a `NAME`, or one of several words.
    """

    attributes: dict[str, int | tuple[str, ...]] = field(default_factory=dict)
    children: dict[str, 'Known'] = field(default_factory=dict)
    text: bool = False


ORIGIN = Known({'xyz': 3, 'rpy': 3})
REDUCTION = Known(text=True)
TRANSMISSION_PART = Known(
    {'name': NAME}, {'mechanicalReduction': REDUCTION, 'mechanical_reduction': REDUCTION}
)
LINK = Known(
    {'name': NAME},
    {
        'inertial': Known(
            children={
                'origin': ORIGIN,
                'mass': Known({'value': 1}),
                'inertia': Known(dict.fromkeys(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), 1)),
            }
        )
    },
)
JOINT = Known(
    {'name': NAME, 'type': URDF_KINDS},
    {
        'origin': ORIGIN,
        'axis': Known({'xyz': 3}),
        'parent': Known({'link': NAME}),
        'child': Known({'link': NAME}),
        'limit': Known(dict.fromkeys(('lower', 'upper', 'velocity', 'effort'), 1)),
        'dynamics': Known({'damping': 1, 'friction': 1}),
        'mimic': Known({'joint': NAME, 'multiplier': 1, 'offset': 1}),
    },
)
TRANSMISSION = Known(
    children={
        'joint': TRANSMISSION_PART,
        'actuator': TRANSMISSION_PART,
        'mechanicalReduction': REDUCTION,
    }
)
ROBOT = Known({'name': NAME}, {'link': LINK, 'joint': JOINT, 'transmission': TRANSMISSION})
DOCUMENT = Known(children={'robot': ROBOT})

# One of each below these; <robot> and <transmission> hold lists.
_SCALAR_PARENTS = frozenset({'link', 'joint', 'inertial'})


def read_robot(data: bytes, source: str, encoding: str | None = None) -> Element:
    """Return the ``<robot>`` element with known elements and attributes only.

    Every numeric attribute of the result holds the right count of decimal numbers (not yet
    bounded), every other one a non-empty printable string.

    Parameters
    ----------
    data
        The document.
    source
        Opens every error message.
    encoding
        Overrides the encoding that the document declares.

    Raises
    ------
    UrdfError
        If the document is not well-formed, holds a DTD, exceeds a bound, is no URDF, or if an
        attribute is malformed.
    """
    if len(data) > MAX_BYTES:
        raise UrdfError(
            f'{source}: {len(data)} bytes, expected at most {MAX_BYTES}; '
            'a URDF names its meshes, it does not embed them'
        )
    handler = _Keeper(source)
    parser = DefusedExpatParser(forbid_dtd=True)
    parser.setContentHandler(handler)
    document = InputSource()
    document.setByteStream(BytesIO(data))
    if encoding is not None:
        document.setEncoding(encoding)
    try:
        parser.parse(document)
    except DefusedXmlException as error:
        raise UrdfError(
            f'{source}: holds a DTD or entity ({type(error).__name__}), expected plain XML; '
            'remove the <!DOCTYPE ...> declaration'
        ) from error
    # Encodings fail in expat with LookupError (unknown) or ValueError (multi-byte, undecodable).
    except (SAXException, LookupError, ValueError) as error:
        if isinstance(error, UrdfError):
            raise
        raise UrdfError(
            f'{source}: not well-formed XML: {_reason(error)}; '
            'check the file with an XML tool such as xmllint'
        ) from error
    return handler.close()


class _Keeper(ContentHandler):
    """Build the tree of known elements; count, bound and check on the way."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self._source = source
        self._line: Callable[[], int | None] = lambda: None
        self._builder = TreeBuilder()
        self._known: list[Known | None] = [DOCUMENT]
        self._open: list[Element] = []
        self._elements = 0

    def setDocumentLocator(self, locator: Locator) -> None:
        self._line = locator.getLineNumber

    def close(self) -> Element:
        robot: Element = self._builder.close()
        return robot

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise self._error(f'more than {MAX_ELEMENTS} elements', 'split the robot')
        if len(self._known) > MAX_DEPTH:
            raise self._error(f'elements nested deeper than {MAX_DEPTH}', 'remove the nesting')
        if name.startswith('xacro:'):
            raise self._error(
                f'<{name[:80]}> is an unexpanded xacro macro',
                'expand the file first: xacro robot.urdf.xacro > robot.urdf',
            )
        if len(self._known) == 1 and name != 'robot':
            raise self._error(f'root element is <{name[:80]}>, expected <robot>', 'pass a URDF')
        parent = self._known[-1]
        known = parent.children.get(name) if parent else None
        self._known.append(known)
        if known is not None:
            self._keep(name, known, attrs)

    def endElement(self, name: str) -> None:
        if self._known.pop() is not None:
            self._builder.end(name)
            self._open.pop()

    def characters(self, content: str) -> None:
        known = self._known[-1]
        if known is not None and known.text:
            self._builder.data(content)

    def _keep(self, name: str, known: Known, attrs: AttributesImpl) -> None:
        if self._open:
            parent = self._open[-1]
            if parent.tag in _SCALAR_PARENTS and parent.find(name) is not None:
                raise self._error(f'two <{name}> elements, expected one', 'remove one')
        kept = {key: attrs[key] for key in known.attributes if key in attrs}
        self._open.append(self._builder.start(name, kept))
        if known is ORIGIN and 'quat_xyzw' in attrs:
            raise self._error('quat_xyzw is not read, expected rpy="roll pitch yaw"', 'use rpy')
        # <parent>, <axis>, <mass> and the like mean nothing without their only attribute.
        if len(known.attributes) == 1 and not kept and known is not TRANSMISSION_PART:
            key = next(iter(known.attributes))
            raise self._error(f'attribute {key} is missing', f'add {key}="..."')
        for key, value in kept.items():
            self._check(key, value, known.attributes[key])

    def _check(self, key: str, value: str, holds: int | tuple[str, ...]) -> None:
        if len(value) > MAX_ATTRIBUTE_LENGTH:
            raise self._error(
                f'{key} has {len(value)} characters, expected at most {MAX_ATTRIBUTE_LENGTH}',
                'shorten it',
            )
        if isinstance(holds, tuple):
            if value not in holds:
                raise self._error(
                    f'{key}={value!r}, expected one of {", ".join(holds)}', f'correct {key}'
                )
        elif holds == NAME:
            if not value or not value.isprintable():
                raise self._error(
                    f'{key}={value!r}, expected a non-empty printable text', 'change the name'
                )
        else:
            self._check_numbers(key, value, holds)

    def _check_numbers(self, key: str, value: str, count: int) -> None:
        numbers = value.split()
        if len(numbers) != count:
            raise self._error(
                f'{key}={value!r} holds {len(numbers)} numbers, expected {count}',
                f'write {key}="{" ".join(["0"] * count)}" or the like',
            )
        for number in numbers:
            if not is_decimal(number):
                raise self._error(
                    f'{key}={value!r}: {number!r} is not a number, expected a decimal number',
                    'write it like 0.5 or 1e-3',
                )

    def _error(self, what: str, fix: str) -> UrdfError:
        return UrdfError(f'{self._source}: {self._where()}{what}; {fix}')

    def _where(self) -> str:
        labels = []
        for element in self._open[1:] or self._open:
            name = element.get('name', '')[:80]
            labels.append(f'{element.tag} {name!r}' if name else f'<{element.tag}>')
        return ', '.join([f'line {self._line()}', *labels]) + ': '


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
