# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The library without its extras: what it can do, and what it says of the rest."""

import os
import re
import subprocess
import sys
from importlib.metadata import distribution, packages_distributions, requires
from pathlib import Path

import numpy as np
import pytest
from support.set_up import closure

ROOT = Path(__file__).resolve().parents[2]
BESIDE = 'geolin_control', 'geolin_estimation', 'geolin_tools', 'geolin_walking'
CORE = """
import sys
import numpy as np
import geolin_ros
from geolin_ros import *
from geolin_ros import robots
from geolin_ros.stream import warm_up

for name in geolin_ros.__all__:
    getattr(geolin_ros, name)
model = TreeModel.from_urdf(robots.path('quadruped'))
rng = np.random.default_rng(7)
state, tau = model.random_state(rng), rng.normal(size=model.n)
linearizer = Linearizer(model)
L = linearizer(state, tau)
found = [L.A, L.B, L.nu_dot, mass_matrix(model, state), bias_force(model, state)]
step = linearizer.discretize(state, tau, 1e-3, method='zoh')
found += [step.Phi, step.Gamma]
found += [forward_dynamics(model, state, tau), inverse_dynamics_regressor(model, state, L.nu_dot)]
held = Linearizer(model, [Contact(model.link_names[-1])])(state, tau)
found += [held.A, held.B]
warm_up.warm_up()
np.savez(sys.argv[1], *[np.asarray(array) for array in found])
"""


def run(code: str, *arguments: str, missing: set[str]) -> subprocess.CompletedProcess[str]:
    """Run code where packages cannot be imported."""
    block = f'import sys; sys.modules.update(dict.fromkeys({sorted(missing)!r}))\n'
    return subprocess.run(
        [sys.executable, '-c', block + code, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {'OPENBLAS_NUM_THREADS': '1'},
    )


@pytest.fixture(scope='module')
def others() -> set[str]:
    """All packages of this environment but those that the wheel of the library installs."""
    core = closure(['geolin-ros'])
    assert {'numba', 'numpy', 'pyyaml'} < core
    of_cmeel = {'proxsuite', 'pinocchio'}  # in a folder that Python's metadata does not look at
    found = of_cmeel | {
        package
        for package, owners in packages_distributions().items()
        if not core & {re.sub(r'[-_.]+', '-', owner.lower()) for owner in owners}
        and package not in sys.stdlib_module_names
    } - {'geolin_environment_hook', '_distutils_hack', *BESIDE}
    assert {'matplotlib', 'mujoco', 'rosbags', 'scipy'} <= found
    return found


def test_core__computes_without_any_extra(others, tmp_path):
    for name, missing in (('bare', others), ('full', set())):
        done = run(CORE, str(tmp_path / f'{name}.npz'), missing=missing)
        assert done.returncode == 0, done.stderr
    bare, full = (np.load(tmp_path / f'{name}.npz') for name in ('bare', 'full'))
    assert len(bare.files) == len(full.files) > 8
    for name in full.files:
        np.testing.assert_array_equal(bare[name], full[name])


def test_core__is_small():
    # 258.6 of these, with bytecode and pip, are a virtual environment of 329 MB; 330 is the limit.
    files = [
        Path(file.locate())
        for name in closure(['geolin-ros'])
        for file in distribution(name).files or []
        if file.suffix != '.pyc'
    ]
    size = sum(file.stat().st_size for file in files if file.is_file()) / 2**20
    more = 6.1 if np.__version__ < '2' else 0.0  # in the wheel of NumPy 1.26
    assert 200.0 < size - more < 259.6


def test_commands_of_the_core__run_without_any_extra(others):
    nodes = '', 'lqr_node', 'state_estimator', 'torque_estimator'
    commands = ['info', 'humanoid'], ['lint-urdf', 'quadruped']
    commands += tuple(['parameters', *node.split()] for node in nodes)
    use = (
        'from geolin_ros.cli import main\n'
        f'for command in {commands!r}: assert main(command) == 0\n'
        "main(['--help'])"
    )
    done = run(use, missing=others)
    assert done.returncode == 0, done.stderr
    assert 'usage: geolin' in done.stdout


@pytest.mark.parametrize(
    ('code', 'extra'),
    [
        (
            'sys.exit(main(["analyze-modes", "quadruped", "--contacts", "FL_foot:0.02"]))',
            'control',
        ),
        ('sys.exit(main(["inspect", "bag"]))', 'offline'),
        ('open_dataset("run.zarr")', 'offline'),
    ],
)
def test_what_needs_an_extra__names_it(code, extra, others):
    use = 'from geolin_ros.cli import main; from geolin_ros import *; '
    done = run(use + code, missing=others)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert re.search(r'package \w+ is not installed, ', last)
    assert f'pip install "geolin_ros[{extra}]"' in last


def test_what_is_asked_for__is_in_the_extra_that_is_named_and_in_that_of_the_tools():
    def in_extra(extra):
        lines = (line for line in requires('geolin_ros') if f'extra == "{extra}"' in line)
        return {re.split(r'[^\w-]', line)[0] for line in lines}

    seen = set()
    for file in (
        file for room in ('geolin_ros', *BESIDE) for file in ROOT.glob(f'{room}/**/*.py')
    ):
        calls = r"(?:optional|require)\(((?:\s*'[\w.]+',)+)\s*extra='(\w+)'"
        for packages, extra in re.findall(calls, file.read_text()):
            asked = set(re.findall(r"'(\w+)", packages))
            assert asked <= in_extra(extra), f'{file}: not in the extra {extra!r}'
            assert 'geolin_tools' not in file.parts or in_extra(extra) <= in_extra('tools'), extra
            seen.add(extra)
    assert {'control', 'estimation', 'offline', 'plot', 'view'} <= seen
