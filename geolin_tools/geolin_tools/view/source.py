# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where a page has its robot from."""

from pathlib import Path
from typing import Any, Protocol

from geolin_ros.model.tree import TreeModel
from geolin_tools.view.health import Health
from geolin_tools.view.instant import Instant


class Source(Protocol):
    """A robot, and what happens to it.

    Attributes
    ----------
    model
        The robot; another one where `newest` found that it was replaced.
    description
        Path or text of its URDF or MJCF.
    """

    model: TreeModel
    description: str | Path

    def add_controls(self, gui: Any) -> None:
        """Add what a user moves to viser's panel."""

    def newest(self) -> Instant | None:
        """Return what is to be shown now, None if nothing has changed; called 30 times a second.

        A and B may be left out where they have not changed.
        """

    def health(self) -> Health | None:
        """Return latencies and drops; None if there are none."""

    def close(self) -> None:
        """Let go of what was opened."""
