# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A plugin that keeps what tests compare: holds docs/papers.json to it, or writes that."""

import json
import re

import pytest

from support import algorithms, close

_found: dict[str, close.Compared] = {}
_left: set[str] = set()
"""Tests that show a row and have not passed."""
_left_by_nodes: list[set[str]] = []


def pytest_addoption(parser):
    """Let the table be written."""
    parser.addoption('--paper-table', action='store_true', help='write docs/papers.json')


def pytest_itemcollected(item):
    """Keep which tests have to pass before the table is written."""
    if item.get_closest_marker('shows'):
        _left.add(item.nodeid)


def keep(name, compared):
    """Add to what is found under a name."""
    _found[name] = algorithms.merged([_found.get(name, close.Compared()), compared])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Keep what a test compares under its name, and a case of an erratum under its own."""
    close.COMPARED.clear()
    result = yield
    case = getattr(getattr(item, 'callspec', None), 'id', '')
    names = [getattr(item, 'originalname', item.name)]
    names += [case] if re.match(r'[A-Z]\d+ ', case) else []
    compared = algorithms.merged(close.COMPARED)
    for name in names:
        keep(name, compared)
    _left.discard(item.nodeid)
    if not item.config.getoption('--paper-table'):
        outdated = list(algorithms.outdated(names, compared))
        assert not outdated, '; '.join(outdated)
    return result


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Add what a worker of xdist found; each has collected all tests."""
    found, left = json.loads(getattr(node, 'workeroutput', {}).get('papers', '[{}, []]'))
    for name, compared in found.items():
        keep(name, close.Compared(*compared))
    _left_by_nodes.append(set(left))


def pytest_sessionfinish(session):
    """Write the table of a run in which every test that shows a row passed."""
    if hasattr(session.config, 'workeroutput'):
        session.config.workeroutput['papers'] = json.dumps([_found, sorted(_left)])
    elif session.config.getoption('--paper-table') and not session.exitstatus:
        left = set.intersection(*_left_by_nodes) if _left_by_nodes else _left
        left |= algorithms.missing(_found)
        if left:
            reason = f'docs/papers.json is left as it is, not run: {", ".join(sorted(left))}'
            pytest.exit(reason, returncode=pytest.ExitCode.USAGE_ERROR)
        algorithms.write(_found)
