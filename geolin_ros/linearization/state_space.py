# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Systems of python-control with the names of states, efforts and forces."""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from geolin_ros.errors import ConfigurationError
from geolin_ros.model.labels import Label
from geolin_ros.typing import Array


def state_space(
    matrices: tuple[Array, Array],
    forces: tuple[Array, Array],
    labels: tuple[Sequence[Label], Sequence[Label], Sequence[Label]],
    dt: float,
    name: str,
) -> Any:
    """Return a ``control.StateSpace`` whose outputs are its states, and forces.

    Of matrices (k, k) and (k, n_u), forces (rows, k) and (rows, n_u), labels of states, inputs and
    forces, and a time step [s], 0 of a continuous system. Raises `ConfigurationError` if
    python-control is not installed.
    """
    try:
        control = importlib.import_module('control')
    except ModuleNotFoundError as error:
        if error.name != 'control':
            raise
        raise ConfigurationError(
            'package control (python-control) is not installed, expected it: pip install control'
        ) from None
    A, B = matrices
    C, D = (np.vstack(pair) for pair in ((np.eye(len(A)), forces[0]), (0.0 * B, forces[1])))
    # dots are not allowed in names
    states, inputs, others = ([each.name.replace('.', '_') for each in part] for part in labels)
    named = {'states': states, 'inputs': inputs, 'outputs': states + others}
    return control.StateSpace(A, B, C, D, dt, name=name.replace('.', '_'), **named)
