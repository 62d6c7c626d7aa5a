# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import importlib
import json
import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoints
from pathlib import Path

import pytest
from geolin_estimation.kernels import invariant_filter

from geolin_ros import robots
from geolin_ros.cli import BESIDE, COMMANDS, all_commands, main
from geolin_ros.kernels import _jit
from geolin_ros.kernels.engine.contact_linearization import linearize_in_contact
from geolin_ros.kernels.engine.linearization import linearize
from geolin_ros.stream.parameters.file import BESIDE as OF_NODES

QUADRUPED = str(robots.path('quadruped'))
FEET = [f'{leg}_foot:0.02' for leg in ('FL', 'FR', 'RL', 'RR')]


ALL = all_commands()


@pytest.mark.parametrize('name', ALL)
def test_commands__have_a_file_and_a_help(name, capsys):
    module = importlib.import_module(f'{ALL[name][0]}.{name.replace("-", "_")}')
    assert callable(module.run)
    with pytest.raises(SystemExit) as end:
        main([name, '--help'])
    assert end.value.code == 0
    assert f'usage: geolin {name}' in capsys.readouterr().out


def test_help__lists_the_commands_and_imports_none(capsys):
    use = (
        'import sys; from geolin_ros.cli import main\n'
        'try: main(["--help"])\n'
        'except SystemExit: print(*sys.modules)'
    )
    done = subprocess.run([sys.executable, '-c', use], capture_output=True, text=True, check=True)
    assert all(name in done.stdout for name in ALL)
    modules = done.stdout.splitlines()[-1].split()
    assert [name for name in modules if '.cli.' in name] == []
    assert 'rclpy' not in modules


def test_completion__is_of_commands_of_all_packages_and_their_options(tmp_path):
    answer, use = tmp_path / 'answer', 'from geolin_ros.cli import main; main()'
    asked = {'_ARGCOMPLETE': '1', '_ARGCOMPLETE_STDOUT_FILENAME': str(answer)}
    for line, found in (
        ('geolin li', 'linearize\vlint-urdf'),
        ('geolin gains --po', '--postures'),
    ):
        typed = {'COMP_LINE': line, 'COMP_POINT': str(len(line)), '_ARGCOMPLETE_IFS': '\v'}
        env = os.environ | asked | typed
        subprocess.run([sys.executable, '-c', use], env=env, check=True, timeout=60)
        assert answer.read_text().strip() == found


def test_what_is_of_packages_beside__is_named_where_these_are_missing(capsys, monkeypatch):
    assert {name: ALL[name][0].partition('.')[0] for name in set(ALL) - set(COMMANDS)} == BESIDE
    monkeypatch.setattr('importlib.metadata.entry_points', lambda **_: EntryPoints(()))
    monkeypatch.setattr('pkgutil.resolve_name', lambda _: importlib.import_module('geolin_x'))
    lines = {}
    for name, package in (BESIDE | OF_NODES).items():
        package = package.partition('.')[0]
        assert main(['parameters', name] if name in OF_NODES else [name]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert re.search(rf': {name} is a (command|node) of the package {package}, which', line)
        lines[package] = line
    assert 'pip install "geolin_ros[tools]"' in lines['geolin_tools']
    assert 'pip install "geolin_ros[control]"' in lines['geolin_control']
    assert 'pip install "geolin_ros[estimation]"' in lines['geolin_estimation']
    assert main(['info', QUADRUPED]) == 0


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (['info', 'humanoid'], "humanoid: floating base 'pelvis'"),
        (['lint-urdf', 'quadruped'], '0 errors, 0 warnings'),
        (['analyze-modes', 'quadruped'], '24 of 36 states controllable'),
        (['gain-bank', 'quadruped', 'gains.npz', '--contacts', *FEET], '1 posture,'),
        (['compare', 'quadruped', QUADRUPED], 'two models'),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else '',
)
def test_bundled_robots__are_taken_by_name(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 0
    assert said in capsys.readouterr().out


def test_warm_up__says_where_the_kernels_are_and_asks_for_a_folder(capsys, monkeypatch):
    assert main(['warm-up']) == 0
    assert str(_jit.CACHE_FOLDER) in capsys.readouterr().out
    assert linearize.signatures
    assert linearize_in_contact.signatures
    assert invariant_filter.carry.signatures
    monkeypatch.setattr(_jit, 'CACHE_FOLDER', None)
    assert main(['warm-up']) == 1
    assert 'set NUMBA_CACHE_DIR' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (['analyze-modes', 'quadrupd'], "'quadrupd'.*did you mean 'quadruped'"),
        (['info', '/no/quadruped'], '/no/quadruped.*cannot be read'),
        (['info', 'broken.urdf'], r'broken\.urdf'),
    ],
)
def test_what_is_no_robot__is_explained(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path('broken.urdf').write_text('<robot')
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert re.match(rf'geolin {arguments[0]}: .*{said}', captured.err)
    assert captured.out == ''


@pytest.mark.parametrize('arguments', [[], ['levitate'], ['info']])
def test_wrong_usage__is_refused(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert 'usage: geolin' in capsys.readouterr().err


def test_parameters__are_printed(capsys):
    assert main(['parameters']) == 0
    assert '    max_skew: 0.05' in capsys.readouterr().out
    assert main(['parameters', '--format', 'markdown']) == 0
    assert '| `max_skew` | `0.05` s |' in capsys.readouterr().out


def test_info__prints_the_summary_links_and_the_feet_that_shapes_make(capsys):
    assert main(['info', QUADRUPED]) == 0
    said = capsys.readouterr().out
    assert said.startswith("quadruped: floating base 'base', 12 joint coordinates")
    assert said.splitlines().index('links by body:') == 13
    assert '    3 FL_calf: FL_calf, FL_foot\n' in said
    feet = said.partition('feet that shapes')[2].splitlines()[1:]
    assert [line.split()[0] for line in sorted(feet)] == [
        f'{leg}_foot:' for leg in ('FL', 'FR', 'RL', 'RR')
    ]
    assert all('a ball of radius 0.02 m' in line for line in feet)


def test_info__takes_overlays_and_mjcf_files(tmp_path, capsys):
    pytest.importorskip('mujoco')
    (tmp_path / 'arm.xml').write_text(
        '<mujoco model="arm"><worldbody><body name="upper"><joint name="j" damping="3"/>'
        '<geom size=".1"/></body></worldbody></mujoco>'
    )
    assert main(['info', str(tmp_path / 'arm.xml')]) == 0
    assert "arm: fixed base 'world', 1 joint coordinate," in capsys.readouterr().out
    overlay = tmp_path / 'overlay.yaml'
    overlay.write_text('joints: {FL_hip_joint: {damping: 7.5}}\n')
    assert main(['info', 'quadruped', '--overlay', str(overlay)]) == 0
    assert 'effort 24, damping 7.5\n' in capsys.readouterr().out


def test_bags__are_inspected_without_ros(tmp_path):
    use = (
        'import sys; sys.modules.update(dict.fromkeys(("rclpy", "geolin_msgs", "rosbag2_py")))\n'
        f'from geolin_ros.cli import main; sys.exit(main(["inspect", {str(tmp_path)!r}]))'
    )
    done = subprocess.run([sys.executable, '-c', use], capture_output=True, text=True)
    assert done.returncode == 1
    assert 'neither metadata.yaml nor' in done.stderr


def test_supports__of_frames_alone_are_read_again_and_again_without_a_crash():
    use = (
        'import gc; from geolin_ros import TreeModel, robots\n'
        'from geolin_control.cli._stance import read_supports as read\n'
        'path = robots.path("humanoid"); model = TreeModel.from_urdf(path)\n'
        'for _ in range(10):\n'
        '    feet = read(path, model, ["left_foot", "right_foot"])\n'
        '    gc.collect()\n'
        'print(*(foot.kind for foot in feet))'
    )
    done = subprocess.run([sys.executable, '-c', use], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, 'surface surface\n')


INTERRUPTED_WHILE_IT_IMPORTS = """
import atexit, importlib.abc, os, signal, sys, time, weakref

class Interruption(importlib.abc.MetaPathFinder):
    def find_spec(self, name, *_):
        if name == module:
            sys.meta_path.remove(self)
            if kind == 'ignored':
                kept = weakref.ref(thing := Interruption(), lambda _: interrupt())
                del thing
                time.sleep(60)
            try:
                interrupt()
                interrupt()
            except KeyboardInterrupt:
                if kind == 'C':
                    raise ImportError('initialization failed')
                raise

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

module, kind = sys.argv.pop(1), sys.argv.pop(1)
sys.meta_path.insert(0, Interruption())
atexit.register(interrupt)
from geolin_ros.cli import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ('kind', 'module', 'command'),
    [
        ('Python', 'argparse', ['info', QUADRUPED]),
        ('Python', 'geolin_ros.model.tree', ['info', QUADRUPED]),
        ('ignored', 'geolin_ros.model.tree', ['info', QUADRUPED]),
        ('C', 'scipy.optimize', ['gain-bank', QUADRUPED, 'gains.npz', '--contacts', *FEET]),
    ],
    ids=lambda given: None if isinstance(given, list) else given,
)
def test_interrupts__while_modules_are_imported_and_at_the_end_are_one_line(
    kind, module, command, tmp_path
):
    use = [sys.executable, '-c', INTERRUPTED_WHILE_IT_IMPORTS, module, kind, *command]
    done = subprocess.run(use, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (130, ''), done.stderr
    assert re.fullmatch(r'geolin[a-z -]*: interrupted\n', done.stderr)


COMMANDS_OF_WARM_UP = """
import contextlib, io, json, sys
from geolin_ros.cli import main
from numba.core.dispatcher import Dispatcher

def entered():
    return {
        (value.py_func.__module__, value.py_func.__name__, str(signature))
        for name, module in list(sys.modules.items()) if name.startswith('geolin_')
        for value in list(vars(module).values()) if isinstance(value, Dispatcher)
        for signature in value.signatures
    }

folder, bags = sys.argv[1:]
feet = ['FL_foot:0.02', 'FR_foot:0.02', 'RL_foot:0.02', 'RR_foot:0.02']
run = [
    ['warm-up'],
    ['analyze-modes', 'quadruped', '--contacts', *feet],
    ['analyze-modes', 'humanoid', '--horizon', '0.05'],
    ['gain-bank', 'quadruped', f'{folder}/bank.yaml', '--contacts', *feet],
    ['info', 'humanoid'],
    ['inspect', f'{bags}/demo'],
    ['linearize', f'{bags}/demo', '-o', f'{folder}/free.zarr', '--workers', '1', '--quiet'],
    ['linearize', f'{bags}/demo', '-o', f'{folder}/held.zarr', '--workers', '1', '--quiet',
     '-p', 'contact_source:=parameter', '-p', 'contacts:=[FL_foot point]'],
    ['compare', f'{folder}/free.zarr', f'{folder}/free.zarr'],
    ['replay', f'{bags}/pushed', '-o', f'{folder}/bag', '--quiet'],
    ['gains', f'{bags}/pushed', '-o', f'{folder}/gains.yaml', '--feet',
     'FL_foot,FR_foot,RL_foot,RR_foot', '--quiet'],
    ['gait-gains', 'quadruped', f'{folder}/gait.yaml', '--contacts', *feet],
]
more = {}
for arguments in run:
    with contextlib.redirect_stdout(io.StringIO()):
        status = main(arguments)
    assert status == 0, (arguments, status)
    if arguments == ['warm-up']:
        known = entered()
    else:
        more[arguments[0]] = sorted({row[1] for row in entered() - known})
print(json.dumps(more))
"""


def test_warm_up__covers_all_that_commands_run(tmp_path):
    """By the kernels that are entered, so that what a cache holds already does not count."""
    program = tmp_path / 'commands.py'
    program.write_text(COMMANDS_OF_WARM_UP)
    bags = Path(__file__).resolve().parents[1] / 'bags'
    said = subprocess.run(
        [sys.executable, str(program), str(tmp_path), str(bags)],
        capture_output=True,
        text=True,
        check=False,
        timeout=900.0,
    )
    assert said.returncode == 0, said.stderr
    more = json.loads(said.stdout.splitlines()[-1])
    assert {name: kernels for name, kernels in more.items() if kernels} == {}


COMPILES = """
import sys
from geolin_ros.stream.compiling import compile_line
from geolin_ros.kernels.se3 import log
import numpy as np
with compile_line('geolin test'):
    log(np.eye(4), np.zeros(6))
"""


def test_compiling__is_said_where_nothing_is_in_the_cache(tmp_path):
    environment = os.environ | {'NUMBA_CACHE_DIR': str(tmp_path)}
    once = 'geolin test: compiles for this machine, once (`geolin warm-up` does all): 1, log\n'
    for expected in (once, ''):
        said = subprocess.run(
            [sys.executable, '-c', COMPILES],
            capture_output=True, text=True, check=True, env=environment, timeout=300.0,
        )  # fmt: skip
        assert said.stderr == expected


def test_view__refuses_what_is_no_port(capsys):
    with pytest.raises(SystemExit, match='2'):
        main(['view', 'quadruped', '--port=99999'])
    assert "'99999' is no port, expected 0 (any) to 65535" in capsys.readouterr().err
