# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One node in its own process under one fault after the other, and exact accounts of each.

A drill sends and disturbs, and returns what has to have become of its joint states. The
stage compares that with what the node says of itself and with all that a consumer heard.
"""

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from support.messages import SECOND
from support.ros_graph import START, drops_of


@dataclass
class Outcome:
    """What a drill expects: causes of the drops of joint states."""

    drops: Counter = field(default_factory=Counter)
    lost: int | None = 0
    """Joint states that were sent and never came; None: as many as the transport lost."""
    follows: tuple = ()
    """Causes of as many drops of joint states as follow from what the transport lost."""


@dataclass
class Account:
    """One line of the evidence: all numbers are of joint states, but the drops of odometry."""

    fault: str
    sent: int
    lost: int
    answered: int
    dropped: Counter
    recovery: float
    """From the end of the fault to the first answer [s]."""


class Stage:
    """Drives a `Client` through drills.

    Parameters
    ----------
    robot
        With a running node that has its description from the topic.
    accounts
        Gets the account of each drill.
    """

    def __init__(self, robot, accounts):
        self.robot, self.accounts = robot, accounts
        self._sent = []  # (stamp, names, positions), in order
        self._recover()
        self._before = self._counts()

    # ---- for drills

    def good(self, answer=True):
        """Send what has to be answered, and wait for that; return the joint state."""
        stamp = self.robot.tick()
        joints = self.robot.make_joint_state(stamp)
        self.send(joints, self.robot.make_odometry(stamp))
        if answer:
            self.robot.wait_for(lambda: self.robot.answer_to(joints))
        return joints

    def send(self, joints, base=None):
        """Publish and note what was sent."""
        self._sent.append((nanoseconds(joints), tuple(joints.name), joints.position))
        self.robot.send(joints, base)

    def rest(self, duration):
        """Hear what there is to hear for ``duration`` [s]."""
        end = time.monotonic() + duration
        self.robot.wait_for(lambda: time.monotonic() > end)

    # ---- the run of one

    def run(self, name, drill):
        """Run a drill, check all that is promised and return its account."""
        robot = self.robot
        robot.linearizations.clear()
        self._sent.clear()
        outcome = drill(self)
        end = time.monotonic()
        self._recover()
        recovery = time.monotonic() - end
        robot.process.check_runs()
        after, before = self._counts(), self._before
        self._before = after
        received, answered = (after[0][k] - before[0][k] for k in (0, 1))
        dropped = after[1] - before[1]
        account = Account(
            name, len(self._sent), len(self._sent) - received, answered, dropped, recovery
        )
        drops = outcome.drops + Counter({c: dropped[c.value] for c in outcome.follows})
        assert dropped == _named(drops), account
        assert received == answered + sum(drops.values()), account
        if outcome.lost is not None:
            assert account.lost == outcome.lost, account
        self._check_heard(answered)
        self.accounts.append(account)
        return account

    def _recover(self):
        """Send good messages until one is answered, none lost by a full queue."""
        patience = 0.05  # doubled: on a busy machine an answer takes longer
        while self.robot.answer_soon(self.good(answer=False), patience) is None:
            patience *= 2.0
            assert patience < START, self.robot.process.log

    def _check_heard(self, answered):
        """No answer is stale, repeated, or of another state than its stamp says."""
        heard = list(self.robot.linearizations)
        assert len(heard) <= answered
        place = 0
        for message in heard:
            stamp = nanoseconds(message)
            while self._sent[place][0] != stamp:  # IndexError: an answer to nothing, or late
                place += 1
            _, names, positions = self._sent[place]
            place += 1
            of = dict(zip(names, positions, strict=True))
            expected = [of[joint] for joint in message.joint_names]
            assert list(message.state.joint_positions) == expected
            age = message.odometry_stamp.sec * SECOND + message.odometry_stamp.nanosec - stamp
            assert abs(age) <= SECOND // 20
            assert np.isfinite(message.a.data).all()
            assert np.isfinite(message.b.data).all()

    def _counts(self):
        values = self.robot.next_diagnostics()[2]
        assert values['left out by max_rate'] == values['merged into later ones'] == '0'
        return (int(values['joint states']), int(values['linearizations'])), drops_of(values)


def nanoseconds(message):
    """Return the stamp of a message."""
    return message.header.stamp.sec * SECOND + message.header.stamp.nanosec


def _named(drops):
    return Counter({cause.value: count for cause, count in drops.items() if count})


@dataclass(frozen=True)
class Footprint:
    """What a process holds of the machine."""

    kilobytes: int
    threads: int
    files: int

    @classmethod
    def of(cls, pid):
        """Read it from /proc."""
        folder = Path(f'/proc/{pid}')
        lines = (folder / 'status').read_text().splitlines()
        values = dict(line.split(':', 1) for line in lines)
        return cls(
            int(values['VmRSS'].split()[0]),
            int(values['Threads']),
            len(list((folder / 'fd').iterdir())),
        )
