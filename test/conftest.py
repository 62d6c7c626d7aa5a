# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every test: a graph of its own, warm kernels, and no skip where all is required.

No test is repeated, and none hangs: see `support.limit`.

GEOLIN_REQUIRE=all       a skip is a failure, except for what no package index has, and iDynTree
HYPOTHESIS_PROFILE=name  dev (default), check, ci, nightly
"""

import contextlib
import gc
import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings
from support.environment import UDP_ALONE, own_domain

pytest_plugins = ['support.limit', 'support.paper_table']
settings.register_profile('check', max_examples=5, deadline=None)
settings.register_profile('dev', max_examples=12, deadline=None)
settings.register_profile('ci', max_examples=50, deadline=None, derandomize=True)
settings.register_profile('nightly', max_examples=1000, deadline=None)
settings.load_profile(os.environ.get('HYPOTHESIS_PROFILE', 'dev'))

TEST = Path(__file__).resolve().parent
EVIDENCE = TEST.parent / 'docs' / 'evidence'
PROCESSES = [
    'balance',
    'cli',
    'cpp_consumer',
    'demo',
    'export',
    'installation',
    'offline',
    'ros',
    'view',
    'walk',
]
"""Folders whose tests run nodes, browsers, compilers and programs."""
CHECKED = ['offline/test_recording.py']
"""Files of these folders that run none of them."""
LONGEST = (
    'demo/test_fresh_clone.py',
    'walk/test_walking.py',
    'kernels/test_bounds.py',
    'offline/test_interruptions.py',
    'oracle/test_matrix.py',
    'ros/test_live_model.py',
    'estimation/test_contact_identification.py',
    'balance/test_over_dds.py',
    'ros/test_signals.py',
    'estimation/test_identification.py',
    'cli/test_tutorial.py',
    'ros/test_replay.py',
    'contracts/test_release.py',
    'ros/faults/test_commands.py',
    'export/test_folder.py',
)
"""Files that take long, of which one at the end would leave the other workers without work."""
NEVER_REQUIRED = ('launch_ros', 'recordings of real robots', 'ros2_control')


_stack = contextlib.ExitStack()
# Before rclpy is imported anywhere, and for the processes that tests start.
os.environ['ROS_DOMAIN_ID'] = str(_stack.enter_context(own_domain()))
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
os.environ['MPLBACKEND'] = 'Agg'
# Before NumPy is imported: threads of BLAS only stand in each other's way on small matrices.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
# Of a run under nohup or in the background, programs that tests start would ignore these too.
for number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let results be kept, and DDS do without shared memory."""
    parser.addoption('--evidence', action='store_true', help='write docs/evidence')
    parser.addoption('--udp-alone', action='store_true', help='do without shared memory')


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch) -> Generator[int]:
    """Give a test, and what it starts, a domain where no other test had a robot."""
    with own_domain() as domain:
        monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
        yield domain
        maps = Path('/proc/self/maps').read_text()
        ports = re.findall(r'fast(?:dds|rtps)_port(\d+)$', maps, re.M)
        left = {port for port in ports if (int(port) - 7400) // 250 == domain}
        assert not left, 'this process stays on the graph of the test: a node is not destroyed'


@pytest.fixture(scope='session')
def evidence_folder(request: pytest.FixtureRequest) -> Path | None:
    """Where results are kept, or None."""
    return EVIDENCE if request.config.getoption('--evidence') else None


def pytest_configure(config: pytest.Config) -> None:
    """Choose the transport; refuse a GEOLIN_REQUIRE that would require nothing."""
    if config.getoption('--udp-alone'):
        os.environ.update(UDP_ALONE)
    if os.environ.get('GEOLIN_REQUIRE', 'all') != 'all':
        raise pytest.UsageError(
            f"GEOLIN_REQUIRE is {os.environ['GEOLIN_REQUIRE']!r}, expected 'all', or not set"
        )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels once, before workers would all do it at the same time."""
    options = session.config.option
    if getattr(options, 'numprocesses', None) and not options.collectonly:
        tool = TEST.parent / 'tools' / 'compile_kernels.py'
        subprocess.run([sys.executable, str(tool), '--all'], check=True)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import nothing of what `make check` leaves out by its folder."""
    if 'not processes' in config.getoption('markexpr') and collection_path.is_relative_to(TEST):
        place = collection_path.relative_to(TEST)
        is_checked = any(file.startswith(place.as_posix()) for file in CHECKED)
        return True if {*place.parts[:1]} & {*PROCESSES} and not is_checked else None
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts processes, by its folder or its imports; begin with the longest files.

    Those that wait for processes and those that compute take turns: no worker is idle then.
    """
    assert all((TEST / file).exists() for file in LONGEST)
    files, waiting = dict.fromkeys(item.path for item in items), set()
    for item in items:
        place = item.path.relative_to(TEST)
        of_folder = place.parts[0] in PROCESSES and place.as_posix() not in CHECKED
        if of_folder or hasattr(getattr(item, 'module', None), 'subprocess'):
            item.add_marker(pytest.mark.processes)
            waiting.add(item.path)
    turn = {TEST / file: place - len(LONGEST) for place, file in enumerate(LONGEST)}
    for group in (waiting, files.keys() - waiting):
        rest = [file for file in files if file in group and file not in turn]
        turn |= {file: place / len(rest) for place, file in enumerate(rest)}
    items.sort(key=lambda item: turn[item.path])


def pytest_collection_finish() -> None:
    """Spare the garbage collector what lives to the end: modules, and every test."""
    gc.collect()
    gc.freeze()


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if not report.skipped or hasattr(report, 'wasxfail') or 'GEOLIN_REQUIRE' not in os.environ:
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not any(name in reason for name in NEVER_REQUIRED):
        report.outcome = 'failed'
        report.longrepr = f'{report.nodeid}: skipped where GEOLIN_REQUIRE=all forbids it: {reason}'


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the skip of a test into a failure where all is required."""
    report = yield
    _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn the skip of a whole module into a failure where all is required."""
    report = yield
    _forbid_skip(report)
    return report
