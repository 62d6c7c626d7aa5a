# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The packages as installed by colcon, and the `ros2` command, where it is."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from support.processes import Program

ROOT = Path(__file__).resolve().parents[2]
ROS2 = [sys.executable, '-c', 'import sys; from ros2cli.cli import main; sys.exit(main())']
NOT_HERE = 'launch_ros and ros2cli are in no package index: source ROS 2 or an overlay'
BESIDE = 'geolin_control', 'geolin_estimation', 'geolin_tools', 'geolin_walking', 'geolin_demos'
PATIENCE = 240.0
"""Longest wait on a busy machine [s]."""


def install(folder):
    """Install the packages with colcon and return the prefix; compile kernels that are not yet."""
    subprocess.run([sys.executable, str(ROOT / 'tools/compile_kernels.py'), '--all'], check=True)
    scripts = str(Path(sys.executable).parent)
    colcon = shutil.which('colcon', path=f'{scripts}{os.pathsep}{os.environ["PATH"]}')
    done = subprocess.run(
        [
            *(colcon, '--log-base', f'{folder}/log', 'build'),
            *('--base-paths', str(ROOT)),
            *('--merge-install', '--packages-select', 'geolin_ros', *BESIDE),
            *('--packages-ignore', 'geolin_msgs'),  # it is in .venv
            *('--build-base', f'{folder}/build'),
            *('--install-base', f'{folder}/install'),
        ],
        env=os.environ | {'PATH': f'{scripts}{os.pathsep}{os.environ["PATH"]}'},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / 'install'


class Installation:
    """A prefix in the environment of commands.

    The library is that of the checkout, whose kernels are compiled already; launch files,
    programs, parameter files and the package's name in the index are those of the prefix.
    """

    def __init__(self, prefix):
        self.prefix = prefix
        self.variables = os.environ | {
            'AMENT_PREFIX_PATH': os.pathsep.join(
                filter(None, (str(prefix), os.environ.get('AMENT_PREFIX_PATH')))
            ),
            'PATH': f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}',
            'PYTHONUNBUFFERED': '1',
        }

    def ros2(self, *words, timeout=60.0, **environment):
        """Run a command to its end; return what it printed."""
        done = subprocess.run(
            [*ROS2, *words],
            env=self.variables | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
        )
        assert done.returncode == 0, f'ros2 {" ".join(words)}:\n{done.stdout}'
        return done.stdout

    def start(self, *words, **environment):
        """Start a command that runs until it is interrupted; to be used as a context manager."""
        return Command(words, self.variables | environment, self.prefix.parent)

    def launch(self, *words, **environment):
        """Start `ros2 launch`."""
        return self.start('launch', *words, **environment)


class Command:
    """A running `ros2`, ended with SIGINT at the latest when the context ends."""

    def __init__(self, words, variables, folder):
        self.folder = Path(tempfile.mkdtemp(dir=folder))
        self._log = self.folder / 'log.txt'
        with self._log.open('w') as log:
            self.process = Program(
                [*ROS2, *map(str, words)],
                env=variables | {'ROS_LOG_DIR': str(self.folder)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                start_new_session=True,
                lasts=True,
            )

    @property
    def log(self):
        """All that was printed so far, without colours."""
        return re.sub(r'\x1b\[\d*m', '', self._log.read_text())

    def wait_for(self, text, count=1, timeout=PATIENCE):
        """Wait until a text was printed so many times."""
        deadline = time.monotonic() + timeout
        while self.log.count(text) < count:
            assert self.process.poll() is None, f'ended before {text!r}:\n{self.log}'
            assert time.monotonic() < deadline, f'not {text!r} in {timeout} s:\n{self.log}'
            time.sleep(0.05)

    def wait(self, timeout=PATIENCE):
        """Return the exit status."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            pytest.fail(f'not over within {timeout} s:\n{self.log}')

    def interrupt(self, timeout=60.0):
        """End it as Ctrl-C does in a terminal, where all processes get the signal."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.wait(timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            try:
                os.killpg(self.process.pid, signal.SIGINT)
                self.process.wait(30.0)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
                pytest.fail(f'not over within 30 s of SIGINT:\n{self.log}')
