# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the frames named in messages sit on the base link."""

import numpy as np

from geolin_ros.errors import ConfigurationError
from geolin_ros.model.tree import Frame, TreeModel
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.typing import Array


class BaseFrames:
    """Placements of links that are fixed to the base, looked up once each.

    Parameters
    ----------
    prefix
        Put before the names of links in messages, as robot_state_publisher's frame_prefix.
    """

    def __init__(self, model: TreeModel, prefix: str = '') -> None:
        self._model, self._prefix = model, prefix
        self._known: dict[str, Array] = {}

    def placement(self, what: str, name: str) -> Array:
        """Return the pose (4, 4) of frame ``name``, with or without the prefix, on the base.

        Raises `DroppedInput` if it is not fixed to the base; says that ``what`` is about it.
        """
        found = self._known.get(name)
        if found is not None:
            return found
        frame = self._find(name)
        if frame is None:
            raise DroppedInput(
                Cause.FRAME,
                f'{what} is about frame {name!r}, expected {self._expected}; correct the '
                'publisher or set odometry.child_frame',
            )
        return self._known.setdefault(name, np.ascontiguousarray(frame.placement))

    def check(self, parameter: str, name: str) -> None:
        """Raise `ConfigurationError` if a parameter names no frame that is fixed to the base."""
        if self._find(name) is None:
            raise ConfigurationError(
                f'parameter {parameter} is {name!r}, expected {self._expected}'
            )

    def _find(self, name: str) -> Frame | None:
        frame = self._model.frames.get(name.removeprefix(self._prefix))
        return frame if frame is not None and frame.body == 0 else None

    @property
    def _expected(self) -> str:
        fixed = [link for link, at in self._model.frames.items() if at.body == 0]
        return (
            f'a link fixed to the base of robot {self._model.name!r} '
            f'({", ".join(map(repr, fixed[:8]))})'
        )
