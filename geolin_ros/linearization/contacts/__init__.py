# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What holds robots that stand, hold on, or close on themselves, and how its rows depend."""

from geolin_ros.description import ContactKind, Loop
from geolin_ros.linearization.contacts.description import (
    Contact,
    activated,
    anchored,
    anchored_where_needed,
)
from geolin_ros.linearization.contacts.redundancy import Redundancy
from geolin_ros.renamed import old_names

__all__ = [
    'Contact', 'ContactKind', 'Loop', 'Redundancy', 'activated', 'anchored',
    'anchored_where_needed',
]  # fmt: skip
__getattr__ = old_names(__name__)
