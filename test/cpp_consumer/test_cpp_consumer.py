# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""examples/cpp_consumer: A, B and gains as C++ reads them, against NumPy."""

import re
import subprocess
import time
from array import array
from pathlib import Path

import numpy as np
import pytest
from support.c_library import PREFIXES, PRELOADED, build_package, needs_rclcpp, with_prefix
from support.processes import Program

pytest.importorskip('rclpy')
pytest.importorskip('geolin_msgs.msg')

import rclpy
from rclpy.context import Context
from rclpy.serialization import serialize_message

from geolin_msgs.msg import FeedbackGains, LinearizedDynamics, Matrix

ROOT = Path(__file__).resolve().parents[2]
HAS_EIGEN = any(
    Path(folder, 'eigen3/cmake/Eigen3Config.cmake').exists()
    for prefix in (*PREFIXES, '/usr', '/usr/local')
    for folder in (f'{prefix}/share', f'{prefix}/lib/cmake')
)

pytestmark = pytest.mark.skipif(not HAS_EIGEN, reason='Eigen is not here: libeigen3-dev')


def run(*words, **options):
    """Run a command and return what it did."""
    return subprocess.run(
        [str(word) for word in words], env=with_prefix(), capture_output=True, text=True, **options
    )


def filled(matrix):
    """Return a message of a matrix."""
    return Matrix(rows=matrix.shape[0], cols=matrix.shape[1], data=array('d', matrix.tobytes()))


@pytest.fixture(scope='module')
def matrices():
    """A, B, K and K_complement of no robot, of four states and two inputs."""
    rng = np.random.default_rng(15)
    return [rng.normal(size=shape) for shape in ((4, 4), (4, 2), (2, 4), (2, 4))]


def messages(matrices):
    """Return a linearization and gains."""
    a, b, k, complement = map(filled, matrices)
    both = {'model_hash': '5a997bcb', 'actuated_joints': ['hip', 'knee']}
    dynamics = LinearizedDynamics(model_name='leg', form=1, a=a, b=b, **both)
    return dynamics, FeedbackGains(k=k, k_complement=complement, **both)


@pytest.fixture(scope='module')
def program(tmp_path_factory):
    """The compiled conversion."""
    folder = tmp_path_factory.mktemp('closed_loop')
    for step in (
        ('cmake', '-S', Path(__file__).parent, '-B', folder, '-Wno-dev'),
        ('cmake', '--build', folder),
    ):
        done = run(*step)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / 'closed_loop'


@pytest.fixture
def convert(program, tmp_path):
    """Writes messages as DDS sends them and runs the conversion."""

    def call(*pair):
        files = []
        for message in pair:
            files.append(tmp_path / type(message).__name__)
            files[-1].write_bytes(serialize_message(message))
        return run(program, *files)

    return call


@pytest.mark.parametrize('has_complement', [True, False])
def test_matrices__are_what_was_sent(convert, matrices, has_complement):
    a, b, k, complement = matrices
    dynamics, gains = messages(matrices)
    if not has_complement:
        gains.k_complement, complement = Matrix(), 0.0
    done = convert(dynamics, gains)
    assert done.returncode == 0, done.stderr
    read = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    np.testing.assert_allclose(read, a - b @ (k + complement), atol=1e-14)


@pytest.mark.parametrize(
    ('spoil', 'said'),
    [
        (lambda A, K: setattr(K, 'model_hash', 'another'), 'gains are of another model, another'),
        (lambda A, K: setattr(A.a, 'rows', 5), 'matrix of 5 x 4 has 16 entries'),
        (lambda A, K: setattr(K, 'k', A.a), 'shapes of a, b and k do not fit'),
    ],
)
def test_messages_that_do_not_fit__are_refused(convert, matrices, spoil, said):
    dynamics, gains = messages(matrices)
    spoil(dynamics, gains)
    assert said in convert(dynamics, gains).stderr


@needs_rclcpp
def test_consumer__hears_linearization_and_gains(matrices, tmp_path):
    built = build_package(ROOT / 'examples' / 'cpp_consumer', tmp_path)
    a, b, k, complement = matrices
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node('sender', context=context)
    topics = 'linearizer/linearization', 'lqr_node/gains'
    sent = messages(matrices)
    publishers = [
        node.create_publisher(type(message), topic, 1)
        for topic, message in zip(topics, sent, strict=True)
    ]
    log = tmp_path / 'log.txt'
    with log.open('w') as output:
        program = built / 'lib/cpp_consumer/consumer'
        consumer = Program([program], env=with_prefix() | PRELOADED, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + 60.0
        while 'closed loop' not in log.read_text():
            assert consumer.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            for publisher, message in zip(publishers, sent, strict=True):
                publisher.publish(message)
            time.sleep(0.1)
    finally:
        consumer.send_signal(2)
        assert consumer.wait(30.0) == 0, log.read_text()
        node.destroy_node()
        rclpy.shutdown(context=context)
    for words, matrix in (('leg: open', a), ('closed', a - b @ (k + complement))):
        rate = float(re.search(rf'{words} loop (\S+) 1/s', log.read_text())[1])
        assert rate == pytest.approx(np.linalg.eigvals(matrix).real.max(), rel=1e-8)
