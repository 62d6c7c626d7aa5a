# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Hostile documents: refused fast, and nothing outside the text is ever touched."""

import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from geolin_ros.errors import ModelWarning, UrdfError
from geolin_ros.urdf import read
from geolin_ros.urdf.safe_xml import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS

ARM = (Path(__file__).parent / 'arm.urdf').read_text(encoding='utf-8')
SECONDS = 10.0

BILLION_LAUGHS = (
    '<!DOCTYPE robot [<!ENTITY e0 "ha">'
    + ''.join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    + ']><robot name="r"><link name="&e9;"/></robot>'
)
QUADRATIC = (
    f'<!DOCTYPE robot [<!ENTITY e "{"x" * 100_000}">]><robot name="r">{"&e;" * 10_000}</robot>'
)
WITH_DTD = {
    'billion laughs': BILLION_LAUGHS,
    'quadratic blowup': QUADRATIC,
    'external entity': '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    '<robot name="&x;"><link name="a"/></robot>',
    'parameter entity': '<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x.dtd"> %x;]>'
    '<robot name="r"><link name="a"/></robot>',
    'external DTD': '<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/robot.dtd">'
    '<robot name="r"><link name="a"/></robot>',
    'plain doctype': '<!DOCTYPE robot><robot name="r"><link name="a"/></robot>',
}


_listeners = []


def _listen(event, args):
    if _listeners and event.split('.')[0] in ('open', 'socket', 'urllib', 'subprocess'):
        _listeners[-1].append((event, args[0]))


sys.addaudithook(_listen)  # cannot be removed; silent unless a test listens


@contextmanager
def touched():
    """Collect the files and sockets that the interpreter opens meanwhile."""
    read(ARM.encode())  # imports that happen on first use
    _listeners.append([])
    try:
        yield _listeners[-1]
    finally:
        _listeners.pop()


class TestHostile:
    @pytest.mark.parametrize('case', WITH_DTD)
    def test_dtd__is_refused(self, case):
        for source in (WITH_DTD[case], WITH_DTD[case].encode('utf-16')):
            start = time.process_time()
            with (
                touched() as events,
                pytest.raises(UrdfError, match=r'DTD or entity .*remove the <!DOCTYPE'),
            ):
                read(source)
            assert time.process_time() - start < SECONDS
            assert events == []

    def test_undeclared_entity__is_text_that_is_not_expanded(self):
        with pytest.warns(ModelWarning, match='undefined entity in line 1: read as urdfdom does'):
            assert read('<robot name="&x;"><link name="a"/></robot>').name == '&x;'

    def test_path__opens_that_file_alone(self, tmp_path):
        file = tmp_path / 'arm.urdf'
        file.write_text(ARM, encoding='utf-8')
        with touched() as events:
            read(file)
        assert events == [('open', str(file))]


class TestBounds:
    def test_size__is_bounded(self, tmp_path):
        text = f'<robot name="r"><link name="a"/><!--{"x" * MAX_BYTES}--></robot>'
        file = tmp_path / 'big.urdf'
        file.write_text(text)
        for source in (text, text.encode(), file):
            with pytest.raises(UrdfError, match=f'bytes, expected at most {MAX_BYTES}'):
                read(source)

    @pytest.mark.parametrize('tag', ['link', 'vendor'])
    def test_depth__is_bounded(self, tag):
        nested = f'<{tag} name="a">' * 200_000
        with pytest.raises(UrdfError, match=f'nested deeper than {MAX_DEPTH}'):
            read('<robot name="r">' + nested)

    def test_element_count__is_bounded(self):
        start = time.process_time()
        with pytest.raises(UrdfError, match=f'more than {MAX_ELEMENTS} elements'):
            read(f'<robot name="r">{"<a/>" * 4_000_000}</robot>')
        assert time.process_time() - start < SECONDS

    def test_link_count__is_bounded(self):
        links = ''.join(f'<link name="l{i}"/>' for i in range(10_001))
        with pytest.raises(UrdfError, match='10001 links, expected at most 10000'):
            read(f'<robot name="r">{links}</robot>')

    def test_long_chain__needs_no_recursion(self):
        n = 5_000
        body = ''.join(f'<link name="l{i}"/>' for i in range(n)) + ''.join(
            f'<joint name="j{i}" type="fixed">'
            f'<parent link="l{i}"/><child link="l{i + 1}"/></joint>'
            for i in range(n - 1)
        )
        assert len(read(f'<robot name="r">{body}</robot>').joints) == n - 1

    @pytest.mark.parametrize(
        'digits', ['9' * 15_000_000, '0.' + '1' * 15_000_000], ids=['integer', 'fraction']
    )
    def test_long_number__is_refused_at_once(self, digits):
        start = time.process_time()
        with pytest.raises(UrdfError, match=r'15000\d{3} characters, expected at most'):
            read(
                f'<robot name="r"><link name="a"><inertial><mass value="{digits}"/>'
                '</inertial></link></robot>'
            )
        assert time.process_time() - start < SECONDS

    @pytest.mark.parametrize(
        'filler',
        ['<!--' + 'x' * 19_000_000 + '-->', '<a b="' + 'x' * 19_000_000 + '"/>', 'x' * 19_000_000],
        ids=['comment', 'vendor attribute', 'text'],
    )
    def test_bulk_within_the_bound__is_read_in_time(self, filler):
        start = time.process_time()
        assert read(f'<robot name="r"><link name="a"/>{filler}</robot>').name == 'r'
        assert time.process_time() - start < SECONDS


WORDS = st.sampled_from(
    ['"', '<', '>', '/>', '&', '\x00', ' ', 'nan', '1e999', '-', '<!DOCTYPE r [', ']]>', '<?xml',
     'é', '\U0001f916', '<link name="base"/>', '<mass/>', '<parent link="tool"/>', '<joint',
     '<![CDATA[', '&#0;', '&lt;', '<robot name="x">', 'xmlns:a="b"', '']
)  # fmt: skip


@st.composite
def mutated(draw):
    """Return the arm's text after a few cuts, insertions and repetitions."""
    text = ARM
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        to = draw(st.integers(at, min(len(text), at + draw(st.sampled_from([0, 1, 8, 80, 5000])))))
        middle = draw(st.one_of(WORDS, st.just(text[at:to] * 2), st.text(max_size=5)))
        text = text[:at] + middle + text[to:]
    return text


@st.composite
def mutated_attributes(draw):
    """Return the arm's text, still well-formed, with some attribute values replaced."""
    pieces = ARM.split('"')
    for _ in range(draw(st.integers(1, 3))):
        at = 2 * draw(st.integers(0, len(pieces) // 2 - 1)) + 1
        number = st.floats().map(repr) | st.integers(-3, 10**12).map(str)
        numbers = st.lists(number, max_size=4).map(' '.join)
        values = st.sampled_from(pieces[1::2]) | numbers | st.text('ab\x7f\u202e ', max_size=4)
        pieces[at] = draw(values)
    return '"'.join(pieces)


class TestFuzz:
    """Any input gives a description or a UrdfError, within a time limit."""

    def attempt(self, source):
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore', ModelWarning)
                read(source)
        except UrdfError as error:
            message = str(error)
            assert message.isprintable()
            assert len(message) < 5_000
        assert time.process_time() - start < SECONDS

    @given(mutated())
    @example(ARM[:700])
    @settings(max_examples=400, deadline=None)
    def test_mutated_text__raises_only_urdf_errors(self, text):
        self.attempt('<' + text)

    @given(
        mutated(), st.sampled_from(['utf-8', 'utf-16', 'utf-16-be', 'utf-32', 'cp037', 'utf-7'])
    )
    @settings(max_examples=300, deadline=None)
    def test_mutated_bytes__raise_only_urdf_errors(self, text, encoding):
        self.attempt(text.encode(encoding, errors='replace'))

    @given(mutated_attributes())
    @settings(max_examples=400, deadline=None)
    def test_mutated_attributes__raise_only_urdf_errors(self, text):
        self.attempt(text)

    @pytest.mark.parametrize('end', range(0, len(ARM.rstrip()), 7))
    def test_truncated_text__is_refused(self, end):
        with pytest.raises(UrdfError):
            read(ARM[:end].encode())
