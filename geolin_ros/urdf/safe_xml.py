# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Untrusted XML in, a tree of elements that know their lines out.

DTDs and entities are refused, size and depth are bounded. What urdfdom's XML parser passes over is
passed over too, with a warning.
"""

import re
from codecs import BOM_UTF8
from typing import Any
from xml.etree.ElementTree import Element
from xml.parsers import expat

from geolin_ros.description import Finding, Refused

MAX_BYTES = 20_000_000
MAX_ELEMENTS = 200_000
MAX_DEPTH = 100
_ILL_FORMED = (expat.ExpatError, LookupError, ValueError)  # the latter two of encodings


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
    except _ILL_FORMED as error:
        shown = ''.join(c if c.isprintable() else repr(c)[1:-1] for c in str(error)[:300])
        problem = f'not well-formed XML: {shown}'
    try:
        root = _parse(_mended(data), encoding)
    except _ILL_FORMED as error:
        raise Refused('', problem, fix) from error
    found.append(Finding('warning', '', f'{problem}: read as urdfdom does', fix))
    return root


def _parse(data: bytes, encoding: str | None) -> Located:
    """Return the root; entities, which only a DTD can declare, are refused with it."""
    parser, elements = expat.ParserCreate(encoding), list[Located]()
    parser.buffer_text = True
    opened: list[Located] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        element = Located(name, attributes)
        element.line = parser.CurrentLineNumber
        if opened:
            element.holder = opened[-1]
            opened[-1].append(element)
        opened.append(element)
        elements.append(element)
        problem = ''
        if len(elements) > MAX_ELEMENTS:
            problem, fix = f'more than {MAX_ELEMENTS} elements', 'split the robot'
        elif len(opened) > MAX_DEPTH:
            problem, fix = f'elements nested deeper than {MAX_DEPTH}', 'remove the nesting'
        elif name.startswith('xacro:'):
            problem = f'<{name[:80]}> is an unexpanded xacro macro'
            fix = 'expand the file first: xacro robot.urdf.xacro > robot.urdf'
        if problem:
            raise Refused(f'line {element.line}', problem, fix)

    def refuse(*_: object) -> None:
        fix = 'remove the <!DOCTYPE ...> declaration'
        raise Refused('', 'holds a DTD or entity, expected plain XML', fix)

    def text(content: str) -> None:
        if not len(opened[-1]):  # before the first part
            opened[-1].text = (opened[-1].text or '') + content

    parser.StartElementHandler, parser.StartDoctypeDeclHandler = start, refuse
    parser.EndElementHandler, parser.CharacterDataHandler = lambda _: opened.pop(), text
    parser.Parse(data, True)
    return elements[0]


_COMMENT = re.compile(rb'<!--.*?-->', re.DOTALL)
_BARE_AMPERSAND = re.compile(rb'&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)')
_END = b'</robot>'


def _mended(data: bytes) -> bytes:
    """Return a document without what tinyxml2 (urdfdom's XML parser) passes over, lines kept."""
    data = _COMMENT.sub(lambda comment: b'\n' * comment[0].count(b'\n'), data)
    data = _BARE_AMPERSAND.sub(b'&amp;', data)
    end = data.find(_END)
    return data if end < 0 else data[: end + len(_END)]
