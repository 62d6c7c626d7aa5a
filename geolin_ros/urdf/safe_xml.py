# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Untrusted XML in, a tree of elements that know their lines out.

DTDs and entities are refused, size and depth are bounded. What urdfdom's XML parser passes over is
passed over too, with a warning.
"""

import re
from codecs import BOM_UTF8
from io import BytesIO
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, InputSource, Locator

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from geolin_ros.description import Finding, Refused

MAX_BYTES = 20_000_000
MAX_ELEMENTS = 200_000
MAX_DEPTH = 100


class Located(Element):
    """An element that knows its line in the document (0: of none), and what it is part of."""

    line = 0
    holder: 'Located | None' = None

    @property
    def where(self) -> str:
        """Line, and names of the element and of what it is part of, without the root."""
        labels: list[str] = []
        element: Located | None = self
        while element is not None and (element.holder is not None or not labels):
            name = str(element.get('name', ''))[:80]
            labels.insert(0, f'{element.tag} {name!r}' if name else f'<{element.tag[:80]}>')
            element = element.holder
        return ', '.join([*([f'line {self.line}'] if self.line else []), *labels])

    def parts(self, tag: str) -> 'list[Located]':
        """Return the elements in this one with a tag."""
        found: Any = self.findall(tag)
        return list(found)


def parse(data: bytes, found: list[Finding]) -> Located:
    """Return the root of a document, prefixes that nobody declared as they are.

    Raises `Refused` if the document cannot be read, holds a DTD, a macro of xacro, or exceeds a
    bound; to ``found`` is added what is not well-formed and read as urdfdom does.
    """
    if len(data) > MAX_BYTES:
        raise Refused(
            '', f'{len(data)} bytes, expected at most {MAX_BYTES}',
            'a URDF names its meshes, it does not embed them',
        )  # fmt: skip
    encoding = 'utf-8' if data.startswith(BOM_UTF8) else None  # whatever the document declares
    data = data.removeprefix(BOM_UTF8).lstrip(b' \t\r\n')  # blanks may not precede a declaration
    fix = 'check the file with an XML tool such as xmllint'
    try:
        return _parse(data, encoding)
    except _IllFormedError as error:
        problem = f'not well-formed XML: {error}'
    try:
        root = _parse(_mended(data), encoding)
    except _IllFormedError as error:
        raise Refused('', problem, fix) from error
    found.append(Finding('warning', '', f'{problem}: read as urdfdom does', fix))
    return root


class _IllFormedError(Exception):
    pass


class _Builder(ContentHandler):
    """Builds the tree of all elements, counts and bounds them."""

    _locator: Locator

    def __init__(self) -> None:
        super().__init__()
        self.tree: Any = TreeBuilder(element_factory=Located)
        self._elements, self._open = 0, list[Located]()

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        element: Located = self.tree.start(name, dict(attrs))
        element.line = self._locator.getLineNumber() or 0
        element.holder = self._open[-1] if self._open else None
        self._open.append(element)
        self._elements += 1
        problem = ''
        if self._elements > MAX_ELEMENTS:
            problem, fix = f'more than {MAX_ELEMENTS} elements', 'split the robot'
        elif len(self._open) > MAX_DEPTH:
            problem, fix = f'elements nested deeper than {MAX_DEPTH}', 'remove the nesting'
        elif name.startswith('xacro:'):
            problem = f'<{name[:80]}> is an unexpanded xacro macro'
            fix = 'expand the file first: xacro robot.urdf.xacro > robot.urdf'
        if problem:
            raise Refused(f'line {element.line}', problem, fix)

    def endElement(self, name: str) -> None:
        self._open.pop()
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
        reason, where = str(error), ''
        if isinstance(error, SAXParseException):
            reason, where = error.getMessage(), f' in line {error.getLineNumber()}'
        shown = ''.join(c if c.isprintable() else repr(c)[1:-1] for c in reason[:300])
        raise _IllFormedError(shown + where) from error
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
