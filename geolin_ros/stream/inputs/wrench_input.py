# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""External wrenches on links from geometry_msgs/WrenchStamped, one topic a link."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench, WrenchKind
from geolin_ros.spatial.se3 import inverse, wrench_map
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.stamps import absence, nanoseconds, starts_anew
from geolin_ros.typing import Array

MissingWrench = Literal['drop', 'zero']


@dataclass(frozen=True)
class WrenchTopic:
    """What a topic is about: the wrench of ``kind`` (see `Wrench`) on ``link``.

    A wrench of kind ``'world_oriented'`` acts at the origin of the link.
    """

    topic: str
    link: str
    kind: WrenchKind


@dataclass
class _Newest:
    """The newest wrench of a topic: stamp [ns], frame, and [force; moment] as the kind says."""

    stamp: int
    frame: str
    value: Array


class WrenchInput:
    """Keeps the newest wrench of each topic and holds it until it is too old.

    The rule for a joint state: every wrench not further than ``timeout`` from it counts as it is.
    Where one is missing or older, the joint state is dropped; or, if ``missing`` is ``'zero'``, it
    counts as no force, and the answer says so in its findings. Raises `UnknownNameError` if a link
    is not part of the robot.

    Parameters
    ----------
    timeout
        Longest distance in time between a wrench and a joint state [s].
    missing
        What to do without a wrench.
    frame_prefix
        Of the frames in messages.
    """

    def __init__(
        self,
        model: TreeModel,
        topics: Sequence[WrenchTopic],
        timeout: float = 0.1,
        missing: MissingWrench = 'drop',
        frame_prefix: str = '',
    ) -> None:
        self._model, self._timeout, self._missing = model, timeout, missing
        self._topics = {topic.topic: topic for topic in topics}
        self._prefix = frame_prefix
        self._newest: dict[str, _Newest] = {}
        for topic in topics:
            model.frame(topic.link)

    def take(self, topic: str, message: Any) -> None:
        """Keep a message of a topic; of one that is not among the topics, nothing.

        Raises `DroppedInput` if a number is not finite, the frame not as the kind says, or the
        stamp not after the last one. The one kept before stays.
        """
        about = self._topics.get(topic)
        if about is None:
            return
        stamp = nanoseconds(message.header.stamp)
        last = self._newest.get(topic)
        starts_anew(f'wrench on {topic}', stamp, None if last is None else last.stamp)
        force, torque = message.wrench.force, message.wrench.torque
        value = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z], np.float64)
        if not np.isfinite(value).all():
            raise DroppedInput(
                Cause.NOT_FINITE, f'wrench on {topic} is {value.tolist()}, expected finite numbers'
            )
        frame = message.header.frame_id
        if about.kind == 'body':
            value = self._on_link(about, frame, value)
        self._newest[topic] = _Newest(stamp, frame, value)

    def at(self, stamp: int, world_frame: str) -> tuple[list[Wrench], list[str]]:
        """Return the wrenches that count at a joint state, one a topic, and the warnings.

        Raises `DroppedInput` if a wrench is missing or too old and ``missing`` is ``'drop'``, or
        if one is to be in world axes and in a frame other than ``world_frame``.
        """
        wrenches, findings = [], []
        for topic, about in self._topics.items():
            newest = self._newest.get(topic)
            value = np.zeros(6)
            known = None if newest is None else newest.stamp
            lack = absence(f'wrench on {topic}', stamp, known, self._timeout)
            if lack and self._missing == 'drop':
                raise DroppedInput(
                    Cause.NO_WRENCH,
                    f'{lack}; check its publisher, raise wrench_timeout, or set missing_wrench '
                    'to zero',
                )
            if lack or newest is None:
                findings.append(f'{lack}: taken as zero')
            else:
                self._check_world_frame(about, newest.frame, world_frame)
                value = newest.value
            wrenches.append(Wrench(about.link, value[:3], value[3:], about.kind))
        return wrenches, findings

    def resume(self, earlier: 'WrenchInput') -> None:
        """Go on with the newest wrenches of topics that are about the same."""
        for topic, about in self._topics.items():
            newest = earlier._newest.get(topic)
            if newest is not None and earlier._topics[topic] == about:
                self._newest[topic] = newest

    def forget(self) -> None:
        """Start anew, after the clock was set back."""
        self._newest.clear()

    def _on_link(self, about: WrenchTopic, frame: str, value: Array) -> Array:
        """Return a wrench measured in ``frame`` in axes of and about the origin of the link."""
        name = frame.removeprefix(self._prefix)
        link, sensor = self._model.frames[about.link], self._model.frames.get(name)
        if sensor is None or sensor.body != link.body:
            raise DroppedInput(
                Cause.WRENCH_FRAME,
                f'wrench on {about.topic} has frame_id {frame!r}, expected link {about.link!r} '
                'or one fixed to it, because its kind is body; correct the publisher or the kind',
            )
        if sensor is link:
            return value
        return np.asarray(wrench_map(inverse(link.placement) @ sensor.placement) @ value)

    def _check_world_frame(self, about: WrenchTopic, frame: str, world_frame: str) -> None:
        if about.kind != 'body' and frame != world_frame:
            raise DroppedInput(
                Cause.WRENCH_FRAME,
                f'wrench on {about.topic} has frame_id {frame!r}, expected the world frame '
                f'{world_frame!r}, because its kind is {about.kind}; correct one of them',
            )
