# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Spinning, and the executor for distributions whose events executor awaits no service."""

import contextlib
import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import rclpy
from std_msgs.msg import String

from geolin_ros.ros.running import OrderOfArrival, make_executor, result_of, spin


def test_messages_that_wait__are_taken_as_they_came(ros_domain):
    sent, received = list('abbbaaba'), []
    with contextlib.ExitStack() as stack:
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=ros_domain)
        stack.callback(context.shutdown)
        node = rclpy.create_node('ordered', context=context)
        stack.callback(node.destroy_node)
        executor = OrderOfArrival(context=context)
        stack.callback(executor.shutdown)
        executor.add_node(node)
        for name in 'ab':
            node.create_subscription(String, name, lambda of: received.append(of.data), 10)
        publishers = {name: node.create_publisher(String, name, 10) for name in 'ab'}
        while not all(publisher.get_subscription_count() for publisher in publishers.values()):
            time.sleep(0.01)
        for name in sent:
            publishers[name].publish(String(data=name))
        time.sleep(0.2)
        while len(received) < len(sent):
            executor.spin_once(timeout_sec=1.0)
    assert received == sent


@pytest.fixture(params=[make_executor, OrderOfArrival])
def node(request, ros_domain, monkeypatch):
    """A node of this process, and either executor to spin it."""
    monkeypatch.setattr('geolin_ros.ros.running.make_executor', request.param)
    rclpy.init(args=[], domain_id=ros_domain)
    node = rclpy.create_node('brief')
    yield node
    node.destroy_node()
    rclpy.shutdown()


def test_a_start_that_a_signal_forestalls__ends_without_a_word(node, recwarn):
    async def start():
        raise AssertionError('begun')

    gc.freeze()  # what was there before takes long to look through
    spin(node, lambda: True, start)
    gc.collect()
    gc.unfreeze()
    assert not recwarn.list


def test_a_result_of_another_thread__is_taken_though_nothing_else_comes(node, monkeypatch):
    answers = []

    async def ask():
        with ThreadPoolExecutor(1) as thread:
            for k in range(20):
                done = thread.submit(lambda k=k: time.sleep(0.01) or k)
                answers.append(await result_of(done, node))
        node.turn.set_result(None)

    monkeypatch.setattr('geolin_ros.ros.running.SLICE', 30.0)
    begin = time.monotonic()
    spin(node, lambda: len(answers) == 20, ask)
    assert time.monotonic() - begin < 30.0
    assert answers == [*range(20)]
