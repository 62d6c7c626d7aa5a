# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where a page has its robot from, and what it shows of one moment."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.control.soles import read_feet
from geolin_ros.control.support import Support
from geolin_ros.errors import GeolinError
from geolin_ros.linearization.contacts.description import Closure, Contact
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.outputs.forces import Force
from geolin_ros.typing import Array

NOTHING = np.zeros((0, 0))


class Instant(NamedTuple):
    """One moment of a robot; ``time`` [s] from when the source says.

    A (2 m, 2 m) and B (2 m, n_u) are empty where there is no linearization yet; ``dt`` is the
    step of the discrete form [s], 0 if they are continuous. ``paths`` are places (N + 1, 3) of
    base and feet in the plan of a robot that walks [m], ``remark`` a sentence for the reader.
    """

    time: float
    state: State
    A: Array = NOTHING
    B: Array = NOTHING
    dt: float = 0.0
    forces: tuple[Force, ...] = ()
    supports: tuple[Support, ...] = ()
    paths: tuple[Array, ...] = ()
    remark: str = ''


class Health(NamedTuple):
    """What a source says of itself at a time [s].

    ``latency`` of the newest linearization [s], NaN if nobody measures it; ``dropped`` joint
    states were not linearized; ``values`` are other figures by name.
    """

    time: float
    latency: float
    dropped: int
    values: Mapping[str, str]


class Source:
    """A robot, and what happens to it; this one has no controls, no health, nothing to close."""

    model: TreeModel
    """Another one where `newest` found that it was replaced."""
    description: str | Path
    """Path or text of its URDF or MJCF."""

    def add_controls(self, gui: Any) -> None:
        """Add what a user moves to viser's panel."""

    def newest(self) -> Instant | None:
        """Return what is to be shown now, None if nothing has changed; called 30 times a second.

        A that has not changed is the same array.
        """
        raise NotImplementedError

    def health(self) -> Health | None:
        """Return latencies and drops; None if there are none."""
        return None

    def close(self) -> None:
        """Let go of what was opened."""


def feet_finder(
    model: TreeModel, description: str | Path
) -> Callable[[Iterable[Closure]], tuple[Support, ...]]:
    """Return what finds the supports of active contacts with the world.

    They are the ball or sole that the shapes of the link make, the contact frame alone where
    these say nothing or another kind.
    """

    @cache
    def by_shapes(frame: str) -> Support | None:
        try:
            return read_feet(description, model, [frame])[0].support
        except GeolinError:
            return None

    def support(contact: Contact) -> Support:
        known = by_shapes(contact.frame)
        if known is not None and known.kind == contact.kind:
            return known
        placement = np.eye(4) if contact.placement is None else contact.placement
        return Support(contact.frame, contact.kind, placement=placement)

    return lambda contacts: tuple(
        support(one) for one in contacts if isinstance(one, Contact) and one.active
    )
