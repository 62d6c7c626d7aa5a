# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Supports of contacts: what the frame of a contact touches the ground with."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from geolin_ros.control.soles import read_feet
from geolin_ros.control.support import Support
from geolin_ros.errors import GeolinError
from geolin_ros.linearization.contacts.description import Closure, Contact
from geolin_ros.model.tree import TreeModel


class Feet:
    """Looks up, once a frame, the ball or sole that the shapes of a link make.

    Parameters
    ----------
    source
        Path or text of its URDF or MJCF.
    """

    def __init__(self, model: TreeModel, source: str | Path) -> None:
        self._model, self._source = model, source
        self._known: dict[str, Support | None] = {}

    def supports(self, contacts: Iterable[Closure]) -> tuple[Support, ...]:
        """Return the supports of active contacts with the world."""
        return tuple(
            self._support(contact)
            for contact in contacts
            if isinstance(contact, Contact) and contact.active
        )

    def _support(self, contact: Contact) -> Support:
        """Return what the shapes say if it is of the same kind, else the contact frame alone."""
        frame = contact.frame
        if frame not in self._known:
            try:
                self._known[frame] = read_feet(self._source, self._model, [frame])[0].support
            except GeolinError:  # its shapes do not tell
                self._known[frame] = None
        known = self._known[frame]
        if known is not None and known.kind == contact.kind:
            return known
        placement = np.eye(4) if contact.placement is None else contact.placement
        return Support(frame, contact.kind, placement=placement)
