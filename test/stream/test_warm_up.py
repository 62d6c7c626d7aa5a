# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A stream that is warm asks no compiler any more: Numba has one lock, which may be held long."""

import json
import subprocess
import sys
import traceback
from types import SimpleNamespace

import numpy as np
import pytest
from support.environment import ROOT, with_checkout

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
    import os

    from geolin_ros.stream.warm_up import warm_up

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
    from numba.core import event
    from support.messages import (
        SECOND,
        contact_state,
        header,
        joint_state,
        odometry,
        random_quaternion,
        wrench_stamped,
    )

    from geolin_ros import robots
    from geolin_ros.stream.linearization_stream import LinearizationStream
    from geolin_ros.stream.parameters.linearizer import TABLE, stream_settings
    from geolin_ros.stream.parameters.model_reading import read_model

    places = []

    class Listener(event.Listener):
        def on_start(self, event):
            ours = [f for f in traceback.extract_stack() if 'geolin_ros/' in f.filename]
            places.append(f'{ours[-1].filename}:{ours[-1].lineno}')

        def on_end(self, event):
            pass

    values = {row.name: row.default for row in TABLE} | changes
    model = read_model(robots.path('quadruped'), values, lambda _: None)
    stream = LinearizationStream(model, stream_settings(values))
    stream.on_drop = lambda _: None
    stream.warm_up()
    event.register('numba:compiler_lock', Listener())
    another = LinearizationStream(model, stream_settings(values))  # as parameters are checked
    another.resume(stream)
    rng, answers = np.random.default_rng(0), 0
    for k in range(30):
        stamp = 50 * SECOND + k * 10_000_000
        in_force = FEET[: (k // 3) % 5]
        contacts = [contact_state(foot, active=foot in in_force) for foot in FEET]
        place, turn, v = rng.normal(size=3), random_quaternion(rng), rng.normal(size=6)
        s, r, tau = rng.uniform(-1.0, 1.0, (3, model.n))
        for topic, message in (
            ('contact_states', SimpleNamespace(header=header(stamp), contacts=contacts)),
            ('push', wrench_stamped(stamp, rng.normal(size=6), 'odom')),
            ('odom', odometry(stamp, place, turn, v)),
            ('joint_states', joint_state(stamp, model.joint_names, s, r, tau)),
        ):
            for answer in stream.take(topic, message):
                answers += 1
                sample = stream.self_check.due(answer)
                if sample is not None:
                    stream.self_check.check(sample)
    return answers, sorted(set(places))
