# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One node for all faults, and the accounts of them: `--evidence` saves these."""

import contextlib

import pytest
from support.fault_stage import Stage
from support.ros_graph import Client

from geolin_ros import robots
from tools import evidence

TEXT = """\
`make faults`: one node over DDS. *Lost*: at the source on purpose, in the transport, or in the
queue of the subscription. All others are answered or dropped; *dropped* counts odometry too.
Recovery is the time from the end of the fault to the next answer.
"""
OF_EFFORTS = """\
Efforts of the LQR node to a standing robot: the largest as a share of its limit, and the largest
change as a share of what `full_swing_time` allows.
"""


def table_of(accounts):
    """Return the table of faults."""
    rows = [
        (
            account.fault,
            account.sent,
            account.lost,
            account.answered,
            ', '.join(f'{count} {cause}' for cause, count in sorted(account.dropped.items())),
            f'{account.recovery * 1e3:.1f}',
        )
        for account in accounts
    ]
    head = 'fault', 'sent', 'lost', 'answered', 'dropped', 'recovery [ms]'
    return evidence.table(head, rows)


def table_of_efforts(accounts):
    """Return the table of efforts."""
    rows = [(fault, sent, f'{a:.3f}', f'{b:.3f}') for fault, sent, a, b in accounts]
    head = 'fault', 'efforts', 'limit', 'change'
    return evidence.table(head, rows)


@pytest.fixture(scope='session')
def books(evidence_folder):
    """Accounts of messages, and of efforts, under all faults; saved in the end."""
    messages, efforts = [], []
    yield messages, efforts
    if evidence_folder is not None:
        lines = *table_of(messages), '', OF_EFFORTS, *table_of_efforts(efforts)
        evidence.write(evidence_folder / 'faults.md', 'Faults', TEXT, lines)


@pytest.fixture(scope='session')
def accounts(books):
    """Where the accounts of a node's messages go."""
    return books[0]


@pytest.fixture(scope='session')
def command_accounts(books):
    """Where the accounts of what the motors were sent go."""
    return books[1]


@pytest.fixture(scope='session')
def serving(quadruped, tmp_path_factory):
    """Return a context manager: a node on a graph, which has its description from the topic."""

    @contextlib.contextmanager
    def serve(graph):
        client = Client(graph, tmp_path_factory.mktemp('node'), quadruped)
        with contextlib.closing(client):
            client.describe(robots.path('quadruped').read_text())
            client.serve()
            yield client

    return serve


@pytest.fixture(scope='package')
def stage(graph, serving, accounts):
    with serving(graph) as client:
        yield Stage(client, accounts)
