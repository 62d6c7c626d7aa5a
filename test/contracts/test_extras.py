# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The library without its extras: what it can do, and what it says of the rest."""

import ast
import os
import re
import subprocess
import sys
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
BESIDE = 'geolin_control', 'geolin_estimation', 'geolin_tools', 'geolin_walking'
CORE = """
import json, sys
import numpy as np
import geolin_ros
from geolin_ros import *
from geolin_ros import robots
from geolin_ros.spatial import se3
from geolin_ros.stream import warm_up
from geolin_ros.dynamics.batch import inverse_dynamics as many_inverse_dynamics

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


def name_of(requirement: str) -> str:
    return re.sub(r'[-_.]+', '-', re.split(r'[^\w.-]', requirement)[0].lower())


def closure(distribution_name: str) -> set[str]:
    """Return a distribution and all that it needs without extras."""
    found, waiting = set(), [distribution_name]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            lines = distribution(name).requires or []
            waiting += [name_of(line) for line in lines if ';' not in line]
    return found


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
    core = closure('geolin-ros')
    assert {'numba', 'numpy', 'defusedxml'} < core
    of_cmeel = {'proxsuite', 'pinocchio'}  # in a folder that Python's metadata does not look at
    return of_cmeel | {
        package
        for package, owners in packages_distributions().items()
        if not core & {name_of(owner) for owner in owners}
        and package not in sys.stdlib_module_names
    } - {'geolin_environment_hook', '_distutils_hack', *BESIDE}


def test_core__computes_without_any_extra(others, tmp_path):
    assert {'matplotlib', 'mujoco', 'proxsuite', 'rosbags', 'scipy'} <= others
    done = run(CORE, str(tmp_path / 'bare.npz'), missing=others)
    assert done.returncode == 0, done.stderr
    done = run(CORE, str(tmp_path / 'full.npz'), missing=set())
    assert done.returncode == 0, done.stderr
    bare, full = (np.load(tmp_path / f'{name}.npz') for name in ('bare', 'full'))
    assert len(bare.files) > 8
    for name in full.files:
        np.testing.assert_array_equal(bare[name], full[name])


def test_core__is_small():
    # 258.6 of these, with bytecode and pip, are a virtual environment of 329 MB; 330 is the limit.
    files = [
        Path(file.locate())
        for name in closure('geolin-ros')
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
    ('command', 'extra'),
    [
        (['analyze-modes', 'quadruped', '--contacts', 'FL_foot:0.02', 'RR_foot:0.02'], 'control'),
        (['inspect', 'bag'], 'offline'),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_commands_of_an_extra__name_it_in_one_sentence(command, extra, others):
    use = f'from geolin_ros.cli import main; sys.exit(main({command!r}))'
    done = run(use, missing=others)
    assert done.returncode == 1
    said = done.stderr.splitlines()  # where nothing is in the cache yet, also what is compiled
    (line,) = (line for line in said if 'compiles for this machine' not in line)
    assert re.match(rf'geolin {command[0]}: package \w+ is not installed, ', line)
    assert f'pip install "geolin_ros[{extra}]"' in line


def asked_for() -> list[tuple[str, str, Path]]:
    """Return (package, extra, file) of every call of `optional` and `require`."""
    found = []
    for file in (
        file for name in ('geolin_ros', *BESIDE) for file in ROOT.glob(f'{name}/**/*.py')
    ):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, 'id', '') in (
                'optional',
                'require',
            ):
                extras = [word.value.value for word in node.keywords if word.arg == 'extra'
                          and isinstance(word.value, ast.Constant)]  # fmt: skip
                packages = [a.value for a in node.args if isinstance(a, ast.Constant)]
                found += [(p.partition('.')[0], extra, file) for p in packages for extra in extras]
    return found


def test_what_is_asked_for__is_in_the_extra_that_is_named_and_in_that_of_the_tools():
    lines, asked = distribution('geolin-ros').requires or [], asked_for()

    def in_extra(extra):
        return {name_of(line) for line in lines if f'extra == "{extra}"' in line}

    assert {'control', 'estimation', 'offline', 'plot', 'view'} <= {extra for _, extra, _ in asked}
    for package, extra, file in asked:
        assert package in in_extra(extra), f'{file}: {package} is not in the extra {extra!r}'
        assert 'geolin_tools' not in file.parts or in_extra(extra) <= in_extra('tools'), extra
