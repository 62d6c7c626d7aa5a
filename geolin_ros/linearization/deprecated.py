# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of before, for one release."""

import warnings
from collections.abc import Sequence

from geolin_ros.linearization.batch import Batches
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.tree import TreeModel


def ConstrainedLinearizer(
    model: TreeModel, contacts: Sequence[Closure] = (), length: float = 0.1
) -> Linearizer:
    """Return `Linearizer`, which takes contacts."""
    warnings.warn('use Linearizer(model, contacts)', DeprecationWarning, stacklevel=2)
    return Linearizer(model, contacts, length)


def BatchLinearizer(model: TreeModel) -> Batches:
    """Return `Linearizer.batch`."""
    warnings.warn('use Linearizer(model).batch', DeprecationWarning, stacklevel=2)
    return Linearizer(model).batch
