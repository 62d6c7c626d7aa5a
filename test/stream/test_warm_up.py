# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A stream that is warm asks no compiler any more: Numba has one lock, which may be held long."""

import json
import os
import subprocess
import sys
import traceback

import numpy as np
import pytest
from numba.core import event
from support.environment import ROOT, with_checkout
from support.messages import SECOND, contact_state, contact_states, wrench_stamped
from support.taking import Source

from geolin_ros import robots
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.parameters.linearizer import stream_settings
from geolin_ros.stream.parameters.model_reading import read_model
from geolin_ros.stream.warm_up import warm_up

FEET = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]
POINTS = [f'{foot} point' for foot in FEET]
CASES = {
    'in the air': {},
    'locked joint': {'locked_joints': ['FL_hip_joint=0.1']},
    'payload': {'payload.frame': 'base', 'payload.mass': 2.0},
    'contacts': {'contacts': POINTS},
    'contacts that come and go': {'contacts': POINTS, 'contact_source': 'topic'},
    'dependent contacts': {'contacts': [*POINTS, 'FL_foot surface']},
    'discrete on contacts': {'form': 'discrete', 'contacts': POINTS},
    'mixed on contacts': {'representation': 'mixed', 'contacts': POINTS},
    'checked on contacts': {'certificate.every': 1, 'contacts': POINTS},
    'passive joint': {'actuated_joints': ['FL_calf_joint']},
    'passive joint on contacts': {'actuated_joints': ['FL_calf_joint'], 'contacts': POINTS},
    'frozen': {'reference': 'frozen'},
    'inverse dynamics': {'torque_source': 'inverse_dynamics'},
    'measured acceleration': {'nu_dot': 'measured'},
    'wrench': {'wrench_topics': ['push base world_oriented']},
    'fixed base': {'base': 'fixed'},
}
SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from stream.test_warm_up import serve
serve()
"""


@pytest.fixture(scope='module')
def waits():
    """Answers of each case, and where it asked the compiler; each in a process of its own."""
    done = subprocess.run(
        [sys.executable, '-c', SCRIPT, str(ROOT / 'test')],
        stdout=subprocess.PIPE,
        env=with_checkout(),
        timeout=500,
        check=True,
    )
    return dict(map(json.loads, done.stdout.splitlines()))


@pytest.mark.parametrize('case', CASES)
def test_warm_stream__asks_no_compiler(waits, case):
    answers, places = waits[case]
    assert answers >= 20
    assert places == []


def serve():
    """Say of each case what became of it, each in a fork with the kernels of a new node."""
    warm_up()
    for case, changes in CASES.items():
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                sys.stdout.write(json.dumps((case, play(changes))) + '\n')
                sys.stdout.flush()
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(pid, 0)[1] == 0, case


def play(changes):
    """Return the number of answers and the places that asked the compiler for something."""
    places = []

    class Listener(event.Listener):
        def on_start(self, event):
            ours = [f for f in traceback.extract_stack() if 'geolin_ros/' in f.filename]
            places.append(f'{ours[-1].filename}:{ours[-1].lineno}')

        def on_end(self, event):
            pass

    values = default_values() | changes
    model = read_model(robots.path('quadruped'), values, lambda _: None)
    stream = LinearizationStream(model, stream_settings(values))
    stream.on_drop = lambda _: None
    stream.warm_up()
    event.register('numba:compiler_lock', Listener())
    another = LinearizationStream(model, stream_settings(values))  # as parameters are checked
    another.resume(stream)
    source, answers = Source(model), 0
    for k in range(30):
        stamp = 50 * SECOND + k * 10_000_000
        contacts = [contact_state(foot, active=i < (k // 3) % 5) for i, foot in enumerate(FEET)]
        for topic, message in (
            ('contact_states', contact_states(stamp, *contacts)),
            ('push', wrench_stamped(stamp, np.ones(6), 'odom')),
            ('odom', source.odometry(stamp)),
            ('joint_states', source.joint_state(stamp)),
        ):
            for answer in stream.take(topic, message):
                answers += 1
                sample = stream.self_check.due(answer)
                if sample is not None:
                    stream.self_check.check(sample)
    return answers, sorted(set(places))
