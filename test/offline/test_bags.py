# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The recordings that come with the tests; tools/make_bags.py makes them."""

import pytest
from geolin_tools.reports.inspection import inspect
from support.bags import FOLDER
from support.datasets import run

from geolin_ros.datasets import open_dataset
from geolin_ros.offline.source import open_source


@pytest.mark.parametrize('name', ['demo', 'pushed'])
def test_bag__is_small_and_usable(name):
    bag = FOLDER / name
    assert sum(file.stat().st_size for file in bag.iterdir()) < 500_000
    with open_source([bag]) as source:
        found = inspect(source)
    assert found['linearizable'] == found['timing']['joint_states']['count'] > 100
    assert found['dropped'] == {}


def test_residual__vanishes_where_contacts_are_known(tmp_path):
    """What the simulator did before the push, with its floor, is what the model predicts.

    Without one it falls, the robot does not.
    """
    feet = [f'{leg}_foot point' for leg in ('FL', 'FR', 'RL', 'RR')]
    run(FOLDER / 'pushed', tmp_path / 'free.zarr')
    run(FOLDER / 'pushed', tmp_path / 'held.zarr', {'contacts': feet})
    free, held = (
        abs(open_dataset(str(tmp_path / f'{name}.zarr')).residual[10:40]).median('time').values
        for name in ('free', 'held')
    )
    assert free[2] > 0.5
    assert free[6:].min() > 50.0
    assert held[:6].max() < 0.01
    assert (held[6:] / free[6:]).max() < 1e-3
