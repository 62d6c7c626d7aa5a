# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`geolin export`: a folder that CMake builds, installs and others find, or one sentence."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from geolin_tools.export import Build, export
from support.c_library import Library, build, needs_tools, run, with_prefix
from support.close import deviation

from geolin_ros import Contact, Description, Joint, Linearizer, Link, TreeModel, robots
from geolin_ros.cli import main
from geolin_ros.errors import ConfigurationError

PROGRAMS = Path(__file__).parent / 'programs'
LEGS = 'FL', 'FR', 'RL', 'RR'
LEVELS = 'x86-64-v4', 'x86-64-v3', 'x86-64-v2'
FIND = '-DCMAKE_PREFIX_PATH='
QUADRUPED = TreeModel.from_urdf(robots.path('quadruped'))


@pytest.fixture(scope='module')
def source(tmp_path_factory):
    """The exported quadruped."""
    folder = tmp_path_factory.mktemp('export') / 'quadruped_library'
    feet = [f'{leg}_foot:0' for leg in LEGS]
    options = '--contacts', *feet, '--target', *LEVELS, 'aarch64', '--name', 'robot'
    assert main(['export', 'quadruped', '-o', str(folder), *options]) == 0
    return folder


@pytest.fixture(scope='module')
def installed(source, tmp_path_factory):
    """Where it is installed."""
    folder = tmp_path_factory.mktemp('installed')
    build(source, folder / 'build', '-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror')
    run('cmake', '--install', folder / 'build', '--prefix', folder / 'prefix')
    return folder / 'prefix'


@pytest.fixture(scope='module')
def programs(source, installed, tmp_path_factory):
    """Programs that find the library."""
    folder = tmp_path_factory.mktemp('programs')
    shutil.copytree(PROGRAMS, folder / 'source')
    readme = (source / 'README.md').read_text()
    (folder / 'source/readme.c').write_text(re.search(r'```c\n(.*?)```', readme, re.DOTALL)[1])
    return build(folder / 'source', folder / 'build', f'{FIND}{installed}')


def library_in(prefix):
    """Return the shared library."""
    (found,) = prefix.glob('lib*/**/librobot.so')
    return found


@needs_tools
def test_levels__agree_with_Python(installed):
    library = Library(library_in(installed), 'robot', QUADRUPED)
    model, contacts = library.model, [Contact(f'{leg}_foot') for leg in LEGS]
    rng, tried = np.random.default_rng(7), 0
    for level in LEVELS:
        if library('set_level', library.robot, level.encode()) != 0:
            continue  # this processor lacks it
        tried += 1
        for chosen, linearizer in ((0, Linearizer(model)), (15, Linearizer(model, contacts))):
            assert library('set_contacts', library.robot, chosen) == 0
            for _ in range(10):
                state, tau = model.random_state(rng), 10.0 * rng.normal(size=model.n)
                assert library.linearize(state, tau) == 0
                L = linearizer(state, tau)
                for found, expected in ((library.A, L.A), (library.B, L.B)):
                    assert deviation(found[model.m :], expected[model.m :]) < 1e-12
                assert deviation(library.nu_dot, L.nu_dot) < 1e-12
    assert tried > 0
    assert library('set_level', library.robot, b'x86-64-v9') == -4


@needs_tools
def test_bad_arguments__are_statuses_with_a_text(installed):
    library = Library(library_in(installed), 'robot', QUADRUPED)
    robot, n = library.robot, QUADRUPED.n
    assert library('linearize', robot, None, None, None, None, None) == -3
    assert library('set_contacts', robot, 16) == -3
    state = QUADRUPED.neutral_state()
    step = state.data, np.zeros(n), -1.0, 1, None, None, None
    assert library('discretize', robot, *step) == -3
    texts = {library('status_text', k, result=ctypes.c_char_p) for k in range(-5, 2)}
    assert len(texts) == 7


@pytest.mark.parametrize('name', ['double', 'class', 'main', 'std', 'Namespace', 'm'])
def test_name_that_C_has__is_refused(name, tmp_path):
    with pytest.raises(
        ConfigurationError, match=f"name is '{name}', .* for example robot_{name.lower()}"
    ):
        export(QUADRUPED, tmp_path / 'new', name=name, build=Build(['native']))
    assert not list(tmp_path.iterdir())


@needs_tools
def test_robot_and_joints_of_any_letters__make_a_library(tmp_path):
    joint, link = 'j\U0001f600 "\\??/é', 'müde\U0001f9be'
    links = [Link.from_mass(name, 1.0, np.zeros(3), np.eye(3)) for name in ('base', link)]
    description = Description('double', tuple(links), (Joint(joint, 'revolute', 'base', link),))
    model = TreeModel.from_description(description)
    name = export(model, tmp_path / 'new', build=Build(['native'], ()))
    assert name == 'robot_double'
    built = build(tmp_path / 'new', tmp_path / 'built', '-DCMAKE_C_FLAGS=-std=c99 -Wall -Werror')
    library = ctypes.CDLL(str(built / 'librobot_double.so'))
    (found,) = (ctypes.c_char_p * 1).in_dll(library, 'robot_double_joint_names')
    assert found.decode() == joint


@needs_tools
def test_shared_library__is_position_independent_and_needs_libc_and_libm_alone(installed):
    said = run('readelf', '-dW', library_in(installed))
    needed = set(re.findall(r'NEEDED.*\[(\w+)\.', said))
    assert needed <= {'libc', 'libm', 'ld-linux-x86-64', 'ld-linux-aarch64'}
    assert 'TEXTREL' not in said
    symbols = run('nm', '-D', '--defined-only', library_in(installed)).split('\n')
    assert all(line.split()[-1].startswith('robot_') for line in symbols if line)


@needs_tools
def test_programs_in_C_and_Cpp__find_it(programs):
    assert run(programs / 'readme').startswith('success, nu_dot[0] = ')
    views = run(programs / 'views')
    assert 'A 36 x 36' in views
    if (programs / 'eigen').exists():
        assert run(programs / 'eigen') == views


@needs_tools
@pytest.mark.parametrize('name', ['real_time', 'threads'])
def test_calls__neither_allocate_nor_ask_the_system_nor_trap_nor_share_anything(name, programs):
    if not (programs / name).exists():
        pytest.skip('the ThreadSanitizer of gcc is not here')
    assert run(programs / name) == 'done\n'


@needs_tools
def test_memory__is_read_and_written_as_far_as_the_header_says(programs):
    if shutil.which('valgrind') is None:
        pytest.skip('valgrind is not here')
    checks = '--error-exitcode=9', '--leak-check=full', '--errors-for-leak-kinds=all'
    assert run('valgrind', '--quiet', *checks, programs / 'memory') == 'begin\nend\n'


@needs_tools
def test_message__is_filled_in_Cpp_as_Python_reads_it(installed, tmp_path):
    pytest.importorskip('geolin_msgs.msg')
    from rclpy.serialization import deserialize_message

    from geolin_msgs.msg import LinearizedDynamics
    from geolin_ros.stream.outputs.reading import read_linearization

    source = PROGRAMS.parent / 'message'
    run('cmake', '-S', source, '-B', tmp_path, '-Wno-dev', env=with_prefix(installed))
    run('cmake', '--build', tmp_path, env=with_prefix(installed))
    model, rng = QUADRUPED, np.random.default_rng(8)
    linearizer = Linearizer(model, [Contact(f'{leg}_foot') for leg in LEGS])
    given = [(model.random_state(rng), 10.0 * rng.normal(size=model.n)) for _ in range(6)]
    # Half a turn about each axis: the quaternion's scalar part is zero.
    for k, (state, _) in enumerate(given[:3]):
        state.H[:3, :3] = 2.0 * np.outer(np.eye(3)[k], np.eye(3)[k]) - np.eye(3)
    sent = b''.join(state.data.tobytes() + tau.tobytes() for state, tau in given)
    done = subprocess.run([tmp_path / 'message'], input=sent, capture_output=True, check=True)
    at = 0
    for state, tau in given:
        size = int.from_bytes(done.stdout[at : at + 8], 'little')
        message = deserialize_message(done.stdout[at + 8 : at + 8 + size], LinearizedDynamics)
        at += 8 + size
        found, expected = read_linearization(message), linearizer(state, tau)
        assert deviation(found.A[model.m :], expected.A[model.m :]) < 1e-12
        assert deviation(found.B[model.m :], expected.B[model.m :]) < 1e-12
        assert deviation(found.nu_dot, expected.nu_dot) < 1e-12
        assert deviation(found.state.data, state.data) < 1e-14
        assert found.tau.tolist() == tau.tolist()
        assert (found.model_name, found.model_hash) == (model.name, model.hash)
        assert (found.base_frame, message.floating_base) == (model.base_link, True)
        assert tuple(message.actuated_joints) == tuple(found.joint_names) == model.joint_names
        assert (found.form, found.reference) == ('continuous', 'moving')
    assert at == len(done.stdout)


@needs_tools
def test_colcon__takes_the_folder_and_others_find_the_package(source, tmp_path):
    colcon = shutil.which('colcon', path=with_prefix()['PATH'])
    if colcon is None:
        pytest.skip('colcon is not here')
    words = [colcon, '--log-base', tmp_path / 'log']
    listed = run(*words, 'list', '--base-paths', source)
    assert listed.split() == ['robot', str(source), '(ros.cmake)']
    bases = (f'--{what}-base={tmp_path / what}' for what in ('build', 'install'))
    run(*words, 'build', '--base-paths', source, *bases, env=with_prefix())
    prefix = tmp_path / 'install/robot'
    assert (prefix / 'include/robot.h').read_bytes() == (source / 'include/robot.h').read_bytes()
    assert library_in(prefix).exists()
    index = pytest.importorskip('ament_index_python.packages')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('AMENT_PREFIX_PATH', str(prefix))
        assert index.get_package_share_directory('robot') == str(prefix / 'share/robot')


@needs_tools
def test_aarch64__gives_the_numbers_of_Python(source, tmp_path):
    if not all(map(shutil.which, ('aarch64-linux-gnu-gcc', 'qemu-aarch64'))):
        pytest.skip('gcc-aarch64-linux-gnu and qemu-user are not here')
    program = tmp_path / 'numbers'
    run(
        *('aarch64-linux-gnu-gcc', '-O2', '-static', '-o', program, f'-I{source}/include'),
        *(PROGRAMS / 'numbers.c', source / 'src/robot.c', source / 'lib/aarch64/aarch64.o', '-lm'),
    )
    model, rng = QUADRUPED, np.random.default_rng(9)
    contacts = [Contact(f'{leg}_foot') for leg in LEGS]
    for chosen, linearizer in ((0, Linearizer(model)), (15, Linearizer(model, contacts))):
        given = [(model.random_state(rng), 10.0 * rng.normal(size=model.n)) for _ in range(20)]
        sent = b''.join(state.data.tobytes() + tau.tobytes() for state, tau in given)
        done = subprocess.run(
            ['qemu-aarch64', program, str(chosen)], input=sent, capture_output=True, check=True
        )
        for row, (state, tau) in zip(
            np.frombuffer(done.stdout).reshape(20, -1), given, strict=True
        ):
            L = linearizer(state, tau)
            A, B = row[: L.A.size].reshape(L.A.shape), row[L.A.size :].reshape(L.B.shape)
            assert deviation(A[model.m :], L.A[model.m :]) < 1e-12
            assert deviation(B[model.m :], L.B[model.m :]) < 1e-12


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        (['--target', 'x86-64-v5'], "target is 'x86-64-v5', expected one of 'native', 'x86-64-v"),
        (['--target', 'native', 'x86-64-v2'], 'expected native, or the others'),
        (['--name', '2 legs'], "name is '2 legs', expected a letter"),
        (['--functions', 'mass_matrx'], "function is 'mass_matrx', expected one of "),
        (['--actuated', 'knee'], "joint 'knee' is not part of robot"),
        (['--ros2', '--contacts', 'FL_foot'], 'in a component of ROS 2, as in messages; say FL_f'),
        (['--contacts', *(f'{leg}_foot:0' for leg in (*LEGS, *LEGS))], 'expected at most 6'),
    ],
)
def test_options_that_cannot_be_used__are_said_and_nothing_is_written(
    options, said, tmp_path, capsys
):
    assert main(['export', 'quadruped', '-o', str(tmp_path / 'new'), *options]) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    (tmp_path / 'mine').touch()
    assert main(['export', 'quadruped', '-o', str(tmp_path)]) == 1
    assert [file.name for file in tmp_path.iterdir()] == ['mine']
