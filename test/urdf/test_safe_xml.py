# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Hostile documents: refused fast; that they open nothing is in test_no_access.py."""

import time

import pytest

from geolin_ros.errors import ModelWarning, UrdfError
from geolin_ros.urdf import read
from geolin_ros.urdf.safe_xml import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS

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


class TestHostile:
    @pytest.mark.parametrize('case', WITH_DTD)
    def test_dtd__is_refused(self, case):
        for source in (WITH_DTD[case], WITH_DTD[case].encode('utf-16')):
            start = time.process_time()
            with pytest.raises(UrdfError, match=r'DTD or entity .*remove the <!DOCTYPE'):
                read(source)
            assert time.process_time() - start < SECONDS

    def test_undeclared_entity__is_text_that_is_not_expanded(self):
        with pytest.warns(ModelWarning, match='undefined entity in line 1: read as urdfdom does'):
            assert read('<robot name="&x;"><link name="a"/></robot>').name == '&x;'


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
