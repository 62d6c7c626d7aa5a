# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""examples/cpp_controller: a robot in MuJoCo stands and bears pushes under a program in C++."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.c_library import build, needs_tools

pytest.importorskip('mujoco')

from cpp_controller import simulator

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    needs_tools,
    pytest.mark.skipif(shutil.which('c++') is None, reason='a C++ compiler is not here'),
]


@pytest.fixture(scope='module')
def controller(tmp_path_factory):
    """The program, compiled by the project of the example."""
    folder = tmp_path_factory.mktemp('cpp_controller')
    geolin = Path(sys.executable).with_name('geolin')
    build(ROOT / 'examples/cpp_controller', folder, f'-DGEOLIN={geolin}')
    return folder / 'controller'


def test_plugin_of_ros2_control__is_built_and_loads_where_its_headers_are(controller, tmp_path):
    folder = controller.parent
    if 'controller_interface_DIR-NOTFOUND' in (folder / 'CMakeCache.txt').read_text():
        pytest.skip('controller_interface and pluginlib of ros2_control are not here')
    ctypes.CDLL(str(folder / 'libgeolin_controller.so'), os.RTLD_NOW)  # nothing is undefined
    install = ['cmake', '--install', str(folder), '--prefix', str(tmp_path)]
    subprocess.run(install, check=True, capture_output=True)
    index = 'share/ament_index/resource_index/controller_interface__pluginlib__plugin'
    described = (tmp_path / index / 'cpp_controller').read_text().strip()
    assert 'cpp_controller/GeolinController' in (tmp_path / described).read_text()


def test_controller__stands_and_bears_the_pushes(controller, capfd):
    recording, program = simulator.run(simulator.parse([str(controller), '--pushes=2']))
    assert recording.stands
    assert 0.01 < recording.peak_error() < 0.06  # it was pushed
    assert program.missed == 0
    assert len(program.latencies) == 4500
    # On its way back, 0.1 s after the push, what it expects of the next millisecond is what MuJoCo
    # does, but for the softness of its contacts.
    off, change = np.median(program.surprises[600:700], axis=0)
    assert off < 0.05 * change
    assert capfd.readouterr().out.startswith('PASS  4 feet, J 0.06 s, 2 pushes: stands')


def test_program_that_does_not_answer__is_an_error(capfd, monkeypatch):
    monkeypatch.setattr(simulator, 'PATIENCE', 0.1)
    assert simulator.main(['/bin/true', '--pushes=1']) == 1
    assert 'does not answer, its exit status is' in capfd.readouterr().err
