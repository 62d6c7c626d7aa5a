# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots as C libraries, exported for this processor and called many states at once."""

import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from geolin_tools.export import Build, export

from geolin_ros import Contact, Linearizer, State, TreeModel
from geolin_ros.typing import Array


def linearize_repeatedly(
    model: TreeModel, state: State, tau: Array, repeats: int, contacts: Sequence[Contact] = ()
) -> Callable[[], object]:
    """Return a call that linearizes ``repeats`` times in C; its A is that of `Linearizer`."""
    library, result = _built(model, contacts), Linearizer(model, contacts)(state, tau)
    states, efforts = np.tile(state.data, (repeats, 1)), np.tile(tau, (repeats, 1))
    robot = ctypes.c_void_p(library.robot_create())
    nowhere = None, None, None  # results stay where they are computed, as in Python
    inputs = (array.ctypes.data_as(ctypes.c_void_p) for array in (states, efforts))
    call = partial(
        library.robot_linearize_batch, robot, ctypes.c_size_t(repeats), *inputs, *nowhere
    )
    assert call() == 0
    found = np.ctypeslib.as_array(library.robot_A(robot), result.A.shape)
    np.testing.assert_array_equal(found, result.A)
    return call


def _built(model: TreeModel, contacts: Sequence[Contact]) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        source, build = Path(folder) / 'robot', Path(folder) / 'build'
        export(model, source, name='robot', contacts=contacts, build=Build(['native'], ()))
        for words in (('-S', source, '-B', build), ('--build', build)):
            subprocess.run(['cmake', *words], check=True, stdout=subprocess.DEVNULL)
        library = ctypes.CDLL(str(build / 'librobot.so'))
    library.robot_create.restype = ctypes.c_void_p
    library.robot_A.restype = ctypes.POINTER(ctypes.c_double)
    return library
