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
from geolin_ros.stream.topic_stream import Cause, DroppedInput, NewestMessage, check_finite
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


class WrenchInput:
    """Keeps the newest wrench of each topic and holds it until it is too old.

    The rule for a joint state: every wrench not further than ``timeout`` [s] from it counts as it
    is. Where one is missing or older, the joint state is dropped; or, if ``missing`` is
    ``'zero'``, it counts as no force, and the answer says so in its findings. Raises
    `UnknownNameError` if a link is not part of the robot.
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
        self._prefix = frame_prefix
        self._topics = {topic.topic: topic for topic in topics}
        self._newest = {topic: NewestMessage(f'wrench on {topic}') for topic in self._topics}
        for about in topics:
            model.frame(about.link)

    def take(self, topic: str, message: Any) -> None:
        """Keep a message of a topic.

        Raises `DroppedInput` if a number is not finite, the frame not as the kind says, or the
        stamp not after the last one. The one kept before stays.
        """
        about, newest = self._topics[topic], self._newest[topic]
        stamp = newest.next(message)
        force, torque = message.wrench.force, message.wrench.torque
        value = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z], np.float64)
        check_finite(f'wrench on {topic}', value)
        frame = message.header.frame_id
        if about.kind == 'body':
            value = self._on_link(about, frame, value)
        newest.stamp, newest.value = stamp, (frame, value)

    def at(self, stamp: int, world_frame: str) -> tuple[list[Wrench], list[str]]:
        """Return the wrenches that count at a joint state, one a topic, and the warnings.

        Raises `DroppedInput` if a wrench is missing or too old and ``missing`` is ``'drop'``, or
        if one is to be in world axes and in a frame other than ``world_frame``.
        """
        wrenches, findings = [], []
        for topic, about in self._topics.items():
            newest = self._newest[topic]
            lack = newest.lack(stamp, self._timeout)
            if lack and self._missing == 'drop':
                raise DroppedInput(
                    Cause.NO_WRENCH,
                    f'{lack}; check its publisher, raise wrench_timeout, or set missing_wrench '
                    'to zero',
                )
            if lack:
                findings.append(f'{lack}: taken as zero')
            frame, value = (world_frame, np.zeros(6)) if lack else newest.value
            if about.kind != 'body' and frame != world_frame:
                raise DroppedInput(
                    Cause.WRENCH_FRAME,
                    f'wrench on {topic} has frame_id {frame!r}, expected the world frame '
                    f'{world_frame!r}, because its kind is {about.kind}; correct one of them',
                )
            wrenches.append(Wrench(about.link, value[:3], value[3:], about.kind))
        return wrenches, findings

    def _on_link(self, about: WrenchTopic, frame: str, value: Array) -> Array:
        """Return a wrench measured in ``frame`` in axes of and about the origin of the link."""
        frames = self._model.frames
        link, sensor = frames[about.link], frames.get(frame.removeprefix(self._prefix))
        if sensor is None or sensor.body != link.body:
            raise DroppedInput(
                Cause.WRENCH_FRAME,
                f'wrench on {about.topic} has frame_id {frame!r}, expected link {about.link!r} '
                'or one fixed to it, because its kind is body; correct the publisher or the kind',
            )
        if sensor is link:
            return value
        return np.asarray(wrench_map(inverse(link.placement) @ sensor.placement) @ value)
