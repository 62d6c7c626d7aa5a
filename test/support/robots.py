# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""URDFs of real robots from the example-robot-data wheel."""

import sysconfig
import warnings
from pathlib import Path

import pytest

from geolin_ros import TreeModel, urdf
from geolin_ros.errors import ModelWarning

FOLDER = Path(sysconfig.get_path('purelib')) / 'cmeel.prefix/share/example-robot-data/robots'


def example_robots():
    """Return the path of every URDF of the wheel; empty without it."""
    return sorted(FOLDER.rglob('*.urdf'))


def example_robot(name):
    """Return the path of ``name``.urdf; skip the test where the wheel is not installed."""
    found = [path for path in example_robots() if path.stem == name]
    if not found:
        pytest.skip(f'robot {name!r} of example-robot-data is not installed')
    return found[0]


def read_robot(path, **options):
    """Return description and model of a URDF, mimic joints independent, warnings left aside."""
    description = urdf.read(path)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        model = TreeModel.from_description(description, mimic='independent', **options)
    return description, model


def mjcf_of(path) -> str:
    """A real robot, written as MJCF by MuJoCo."""
    from support.mujoco_oracle import floating

    spec = floating(path)
    spec.compile()
    return spec.to_xml()
