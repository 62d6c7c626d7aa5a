# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A plugin that keeps what tests compare, for the table of `support.algorithms`."""

import re

import pytest

from support import algorithms, close

_found: dict[str, close.Compared] = {}


def pytest_addoption(parser):
    """Let the table be written."""
    parser.addoption('--paper-table', action='store_true', help='write docs/papers.json')


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Keep what a test compares under its name, and a case of an erratum under its own."""
    close.COMPARED.clear()
    result = yield
    case = getattr(getattr(item, 'callspec', None), 'id', '')
    names = [getattr(item, 'originalname', item.name)]
    names += [case] if re.match(r'[A-Z]\d+ ', case) else []
    for name in names:
        earlier = _found.get(name, close.Compared())
        _found[name] = algorithms.merged([earlier, *close.COMPARED])
    return result


def pytest_sessionfinish(session):
    """Write the table of a run in which all tests passed."""
    if session.config.getoption('--paper-table') and not session.exitstatus:
        algorithms.write(_found)
