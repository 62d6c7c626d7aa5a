# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""An hour of faults in random order: GEOLIN_SOAK_SECONDS sets the time, --evidence keeps the end.

Memory, threads, files, counts and answers are watched all the while. `make soak` does without
shared memory (`--udp-alone`): processes that are killed can leave that of Fast DDS unusable for
those that live.
"""

import os
import time
from collections import Counter

import numpy as np
import pytest
from support.close import assert_close
from support.fault_drills import DRILLS
from support.fault_stage import Footprint, Stage
from support.pinocchio_oracle import PinocchioOracle

from geolin_ros import robots
from geolin_ros.stream.outputs.reading import read_linearization
from tools import evidence

SECONDS = float(os.environ.get('GEOLIN_SOAK_SECONDS', '3600'))
WARM = 0.1
"""Share of the time after which memory should not grow any more."""
MOST_GROWTH = 30_000  # kB, 50 bytes for each message of an hour
SEED = 9


@pytest.mark.soak
def test_node__outlives_an_hour_of_faults(
    graph, quadruped, serving, evidence_folder, pytestconfig
):
    rng, accounts, names = np.random.default_rng(SEED), Counter(), list(DRILLS)
    oracle = PinocchioOracle.read_urdf(robots.path('quadruped'), quadruped)
    sums, drops, worst, prints = Counter(), Counter(), 0.0, []
    with serving(graph) as client:
        stage, pid = Stage(client, []), client.process.process.pid
        is_shared = bool(client.process.shared_memory())
        assert is_shared != pytestconfig.getoption('--udp-alone')
        start = time.monotonic()
        while (elapsed := time.monotonic() - start) < SECONDS:
            name = names[rng.integers(len(names))]
            account = stage.run(name, DRILLS[name])
            stage.accounts.clear()
            client.diagnostics[:-1] = []
            accounts[name] += 1
            sums.update(sent=account.sent, lost=account.lost, answered=account.answered)
            drops.update(account.dropped)
            worst = max(worst, account.recovery)
            received = read_linearization(client.linearizations[-1])
            A, B = oracle.linearization(received.state, received.tau)[:2]
            assert_close(received.A, A, 1e-9)
            assert_close(received.B, B, 1e-9)
            prints.append((elapsed, Footprint.of(pid)))
    warm = next(footprint for when, footprint in prints if when >= WARM * elapsed)
    last = prints[-1][1]
    if evidence_folder is not None:
        rows = [
            ('transport', 'shared memory' if is_shared else 'UDP alone'),
            (f'faults of {len(accounts)} kinds', sum(accounts.values())),
            ('least and most of a kind', f'{min(accounts.values())}, {max(accounts.values())}'),
            ('joint states sent', sums['sent']),
            ('lost', sums['lost']),
            ('answered', sums['answered']),
            (f'dropped, of {len(drops)} causes', sum(drops.values())),
            ('answers compared with Pinocchio', len(prints)),
            ('slowest recovery [s]', f'{worst:.3f}'),
            ('requests without an answer in 10 s, asked again', client.asked_again),
            (f'memory after {WARM * elapsed:.0f} s [kB]', warm.kilobytes),
            ('memory at the end [kB]', last.kilobytes),
            ('threads, files after that', f'{warm.threads}, {warm.files}'),
            ('threads, files at the end', f'{last.threads}, {last.files}'),
        ]
        evidence.write(
            evidence_folder / 'faults.md',
            'Soak',
            f'`make soak`: one node, random faults (seed {SEED}), '
            f'{elapsed:.0f} of {SECONDS:.0f} s.',
            evidence.table(('what', 'value'), rows),
        )
    assert last.kilobytes - warm.kilobytes < MOST_GROWTH
    assert last.threads <= warm.threads + 1
    assert last.files <= warm.files + 2
