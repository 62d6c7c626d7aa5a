# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the frames named in messages sit on the base link."""

import numpy as np

from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.typing import Array


class BaseFrames:
    """Placements of links that are fixed to the base, looked up once each.

    Parameters
    ----------
    model
        The robot.
    prefix
        Put before the names of links in messages, as robot_state_publisher's frame_prefix.
    """

    def __init__(self, model: TreeModel, prefix: str = '') -> None:
        self._model, self._prefix = model, prefix
        self._known: dict[str, Array] = {}

    def placement(self, what: str, name: str) -> Array:
        """Return the pose (4, 4) of frame ``name``, with or without the prefix, on the base.

        Raises
        ------
        DroppedInput
            If it is not fixed to the base; says that ``what`` is about it.
        """
        found = self._known.get(name)
        if found is not None:
            return found
        frame = self._model.frames.get(name.removeprefix(self._prefix))
        if frame is None or frame.body != 0:
            fixed = [link for link, at in self._model.frames.items() if at.body == 0]
            raise DroppedInput(
                Cause.FRAME,
                f'{what} is about frame {name!r}, expected a link fixed to the base of robot '
                f'{self._model.name!r} ({", ".join(map(repr, fixed[:8]))}); correct the publisher '
                'or set odometry.child_frame',
            )
        return self._known.setdefault(name, np.ascontiguousarray(frame.placement))
