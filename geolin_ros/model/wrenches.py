# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""External wrenches on links: three kinds, by what stays constant while the link moves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros.errors import InputError, check_choice
from geolin_ros.kernels.packing.types import (
    BODY_WRENCH,
    WORLD_ORIENTED_WRENCH,
    WORLD_WRENCH,
    Wrenches,
)
from geolin_ros.model.tree import TreeModel, three_numbers

WrenchKind = Literal['body', 'world', 'world_oriented']
_CODES = {'body': BODY_WRENCH, 'world': WORLD_WRENCH, 'world_oriented': WORLD_ORIENTED_WRENCH}


@dataclass(frozen=True)
class Wrench:
    """A force and moment on a link.

    Attributes
    ----------
    link
        Any link of the description.
    force, moment : (3,)
        [N] and [N m], in the axes and about the point that ``kind`` says.
    kind
        ``'body'``: link axes, about the link origin; constant there (force/torque sensor,
        thruster). ``'world'``: world axes, about the world origin; line of action fixed in the
        world. ``'world_oriented'``: world axes, about ``point``; does not turn with the link (a
        push, the weight of a load).
    point : (3,)
        Point of application in the link frame [m]; only for ``'world_oriented'``.
    """

    link: str
    force: ArrayLike = field(default_factory=lambda: np.zeros(3))
    moment: ArrayLike = field(default_factory=lambda: np.zeros(3))
    kind: WrenchKind = 'body'
    point: ArrayLike = field(default_factory=lambda: np.zeros(3))


External = Sequence[Wrench]
"""Wrenches on links that act together."""


def pack(model: TreeModel, wrenches: External) -> Wrenches:
    """Return wrenches as arrays for kernels, on bodies instead of links.

    Raises `InputError` if they are anything else, `UnknownNameError` if a link is not part of the
    model, `ConfigurationError` if a kind is none of the three, `ShapeError` or `NotFiniteError` if
    a force, moment or point is not three finite numbers.
    """
    if not (isinstance(wrenches, Collection) and all(isinstance(w, Wrench) for w in wrenches)):
        raise InputError(f'wrenches is {wrenches!r:.80}, expected a sequence of Wrench')
    count = len(wrenches)
    body, kind = np.zeros((2, count), np.int64)
    packed = Wrenches(body, kind, np.zeros((count, 6)), np.zeros((count, 3)))
    for w, wrench in enumerate(wrenches):
        frame = model.frame(wrench.link)
        check_choice(f'kind of the wrench on link {wrench.link!r}', wrench.kind, tuple(_CODES))
        force, moment, point = (
            three_numbers(f'{name} on link {wrench.link!r}', getattr(wrench, name))
            for name in ('force', 'moment', 'point')
        )
        R, o = frame.placement[:3, :3], frame.placement[:3, 3]
        if wrench.kind == 'body':  # from link axes to the body that carries the link
            force = R @ force
            moment = R @ moment + np.cross(o, force)
        packed.body[w], packed.kind[w] = frame.body, _CODES[wrench.kind]
        packed.value[w, :3], packed.value[w, 3:] = force, moment
        packed.point[w] = o + R @ point
    return packed
