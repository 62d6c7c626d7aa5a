# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import importlib
import subprocess
import sys

import pytest

from geolin_ros import robots
from geolin_ros.cli import COMMANDS, main
from geolin_ros.kernels import _jit
from geolin_ros.kernels.contact_linearization import linearize_in_contact
from geolin_ros.kernels.linearization import linearize

QUADRUPED = str(robots.path('quadruped'))
FEET = [f'{leg}_foot:0.02' for leg in ('FL', 'FR', 'RL', 'RR')]


@pytest.mark.parametrize('name', COMMANDS)
def test_commands__have_a_file_and_a_help(name, capsys):
    module = importlib.import_module(f'geolin_ros.cli.{name.replace("-", "_")}')
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
    for name in COMMANDS:
        assert name in done.stdout
    modules = done.stdout.splitlines()[-1].split()
    assert [name for name in modules if name.startswith('geolin_ros.cli.')] == []
    assert 'rclpy' not in modules


def test_info__prints_the_summary(capsys):
    assert main(['info', QUADRUPED]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("quadruped: floating base 'base', 12 joint coordinates")
    assert len(lines) == 13


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (['info', 'humanoid'], "humanoid: floating base 'pelvis'"),
        (['lint-urdf', 'quadruped'], '0 errors, 0 warnings'),
        (['analyze-modes', 'quadruped'], '24 of 36 states controllable'),
        (['gain-bank', 'quadruped', 'gains.npz', '--contacts', *FEET], '1 postures'),
        (['compare', 'quadruped', QUADRUPED], 'two models'),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else '',
)
def test_bundled_robots__are_taken_by_name(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 0
    assert said in capsys.readouterr().out


def test_file__counts_more_than_the_name_of_a_bundled_robot(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'humanoid').mkdir()  # no robot
    (tmp_path / 'quadruped').write_text(robots.path('humanoid').read_text())
    for word in ('humanoid', 'quadruped'):
        assert main(['info', word]) == 0
        assert capsys.readouterr().out.startswith('humanoid:')


def test_word__that_is_no_robot_is_said_with_those_there_are(capsys):
    assert main(['analyze-modes', 'quadrupd']) == 1
    assert "'quadrupd'" in (said := capsys.readouterr().err)
    assert "did you mean 'quadruped'" in said
    assert main(['info', '/no/quadruped']) == 1
    assert 'cannot be read' in capsys.readouterr().err


def test_info__takes_a_fixed_base(capsys):
    assert main(['info', QUADRUPED, '--base', 'fixed']) == 0
    assert 'fixed base' in capsys.readouterr().out


def test_warm_up__says_where_the_kernels_are(capsys):
    assert main(['warm-up']) == 0
    assert str(_jit.CACHE_FOLDER) in capsys.readouterr().out
    assert linearize.signatures
    assert linearize_in_contact.signatures


def test_warm_up__without_a_folder_is_an_error(capsys, monkeypatch):
    monkeypatch.setattr(_jit, 'CACHE_FOLDER', None)
    assert main(['warm-up']) == 1
    assert 'set NUMBA_CACHE_DIR' in capsys.readouterr().err


@pytest.mark.parametrize('content', [None, '<robot'])
def test_unusable_file__is_explained(content, tmp_path, capsys):
    file = tmp_path / 'robot.urdf'
    if content is not None:
        file.write_text(content)
    assert main(['info', str(file)]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith('geolin info: ')
    assert str(file) in captured.err
    assert captured.out == ''


@pytest.mark.parametrize('arguments', [[], ['levitate'], ['info']])
def test_wrong_usage__is_refused(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert 'usage: geolin' in capsys.readouterr().err


def test_parameters__are_printed_in_both_formats(capsys):
    assert main(['parameters']) == 0
    assert '    max_skew: 0.05' in capsys.readouterr().out
    assert main(['parameters', '--format', 'markdown']) == 0
    assert '| `max_skew` | `0.05` s |' in capsys.readouterr().out


def test_bags_without_the_extra__are_refused_with_what_to_install():
    use = (
        'import sys; sys.modules["rosbags"] = None\n'
        'from geolin_ros.cli import main; sys.exit(main(["inspect", "bag"]))'
    )
    done = subprocess.run([sys.executable, '-c', use], capture_output=True, text=True)
    assert done.returncode == 1
    assert 'geolin inspect: package rosbags is not installed' in done.stderr
    assert 'geolin_ros[offline]' in done.stderr


def test_bags__are_inspected_without_ros(tmp_path):
    use = (
        'import sys; sys.modules.update(dict.fromkeys(("rclpy", "geolin_msgs", "rosbag2_py")))\n'
        f'from geolin_ros.cli import main; sys.exit(main(["inspect", {str(tmp_path)!r}]))'
    )
    done = subprocess.run([sys.executable, '-c', use], capture_output=True, text=True)
    assert done.returncode == 1
    assert 'neither metadata.yaml nor' in done.stderr
