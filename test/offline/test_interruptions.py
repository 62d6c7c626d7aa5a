# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong half way: kills, dead workers, full disks, damaged bags."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from support.bags import FOLDER, Messages, write_bag
from support.datasets import content, run
from support.processes import Program

from geolin_ros.cli import main
from geolin_ros.cli.replay import INTERRUPTED
from geolin_ros.datasets import open_dataset
from geolin_ros.errors import ConfigurationError, RecordingError
from geolin_ros.offline import workers
from geolin_ros.offline.recording import Recording

ROUNDS = 4
CHUNK = 64
PATIENCE = 120.0
"""Within this a process ends, on a busy machine too [s]."""
LINEARIZATIONS = '/linearizer/linearization'


@pytest.fixture(scope='module')
def long_bag(robot, samples, tmp_path_factory):
    """The flight several times over, each a second after the other."""
    entries = []
    for k in range(ROUNDS):
        messages = Messages(robot[0])
        later = [sample._replace(stamp=sample.stamp + k * 10**9) for sample in samples]
        entries += messages.of_samples(later)
    path = tmp_path_factory.mktemp('long') / 'bag'
    return write_bag(path, entries, robot[1], compression='storage')


@pytest.fixture(scope='module')
def expected(long_bag, tmp_path_factory):
    """Files of a dataset that was made without trouble."""
    path = tmp_path_factory.mktemp('expected') / 'out.zarr'
    run(long_bag, path, chunk=CHUNK)
    return content(path)


PROGRAM = 'import sys; from geolin_ros.cli import main; sys.exit(main())'
HELD = f"""
import os, time
from geolin_ros.offline import linearize

run = linearize.run

def until_the_middle(jobs):
    for count, job in enumerate(jobs):
        while count == 8 and os.path.exists(os.environ['GEOLIN_TEST_HOLD']):
            time.sleep(0.01)
        yield job

linearize.run = lambda work, jobs, *where: run(work, until_the_middle(jobs), *where)
{PROGRAM}
"""
"""The same, which goes no further than to the middle while there is a file: see `hold`."""


@pytest.fixture
def hold(tmp_path, monkeypatch):
    """Keep a run in its middle until this file is removed, however late a blow comes."""
    file = tmp_path / 'hold'
    file.touch()
    monkeypatch.setenv('GEOLIN_TEST_HOLD', str(file))
    return file


def start(bag, path):
    """Start `geolin linearize` as a process of its own, and let its workers be held."""
    options = '-o', str(path), '--chunk', str(CHUNK), '--workers', '2'
    command = [sys.executable, '-c', HELD, 'linearize', str(bag), *options]
    return Program(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for(condition, process, timeout=240.0):
    """Wait until something is true while a process runs."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline, f'not within {timeout:g} s'
        time.sleep(0.002)


def finished(path):
    """Return how many units of samples are finished: times are written last."""
    return sum(file.suffix != '.partial' for file in path.glob('time/c/*'))


def kill_workers(process):
    for worker in children(process.pid):
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            worker.kill()


def press_ctrl_c(process):
    """To all processes of a terminal."""
    os.killpg(process.pid, signal.SIGINT)


@pytest.mark.parametrize(
    ('blow', 'status', 'words'),
    [
        (kill_workers, 1, 'a worker process was killed'),
        (Program.kill, -9, ''),
        (press_ctrl_c, 130, 'geolin linearize: interrupted; the same command goes on\n'),
    ],
)
def test_run_that_is_ended__leaves_no_process_and_goes_on_where_it_was(
    blow, status, words, long_bag, expected, hold, tmp_path
):
    path = tmp_path / 'out.zarr'
    with start(long_bag, path) as process:
        wait_for(lambda: finished(path) >= 3, process)
        below = children(process.pid)
        blow(process)
        hold.unlink()
        said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == status
    assert words in said
    _, left = psutil.wait_procs(below, timeout=PATIENCE)
    for worker in left:
        worker.kill()
    assert left == []
    found = open_dataset(path)
    assert found.attrs['complete'] is False
    assert found.sizes['time'] < ROUNDS * 250
    assert np.isfinite(found.A.values).all()
    there = CHUNK * finished(path)
    assert run(long_bag, path, chunk=CHUNK).computed == ROUNDS * 250 - there
    assert content(path) == expected


def test_replay_that_is_ended__leaves_a_bag_that_can_be_read(long_bag, tmp_path):
    program = f"""
import os, signal
from geolin_ros.offline import replay

feed = replay.feed

def until_the_middle(*given):
    for count, answer in enumerate(feed(*given)):
        if count == 100:
            os.kill(os.getpid(), signal.SIGTERM)
        yield answer

replay.feed = until_the_middle
{PROGRAM}
"""
    path = tmp_path / 'out'
    command = [sys.executable, '-c', program, 'replay', str(long_bag), '-o', str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (128 + signal.SIGTERM, '')
    *compiled, last = done.stderr.splitlines()
    assert last == f'geolin replay: {INTERRUPTED}'
    assert all('compil' in line for line in compiled)
    with Recording([path]) as found:
        assert found.counts[LINEARIZATIONS] == 100


def children(pid):
    """Return the workers below a process."""
    found = psutil.Process(pid).children()
    assert found
    return found


def test_cluster__gives_the_same_dataset(long_bag, expected, tmp_path):
    from distributed import LocalCluster

    path = tmp_path / 'out.zarr'
    with LocalCluster(
        n_workers=2, processes=False, protocol='tcp', dashboard_address=None
    ) as cluster:
        run(long_bag, path, chunk=CHUNK, scheduler=cluster.scheduler_address)
    assert content(path) == expected


def test_cluster_that_is_not_there__is_explained(long_bag, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, 'PATIENCE', 1.0)
    with pytest.raises(ConfigurationError, match='no Dask scheduler answers'):
        run(long_bag, tmp_path / 'out.zarr', scheduler='tcp://127.0.0.1:9')


@pytest.fixture
def small_disk(tmp_path):
    """A function that mounts a file system of so many bytes, and returns its folder."""
    folder = tmp_path / 'small'
    folder.mkdir()

    def mount(size):
        mounted = subprocess.run(
            ['mount', '-t', 'tmpfs', '-o', f'size={size}', 'tmpfs', str(folder)],
            capture_output=True,
        )
        if mounted.returncode:
            pytest.skip('a small file system cannot be mounted')
        return folder

    yield mount
    if folder.is_mount():
        subprocess.run(['umount', '-l', str(folder)], check=True)


def test_full_disk__leaves_what_was_finished(long_bag, expected, small_disk, tmp_path, capsys):
    """A file system of a few MB: what is there already can be opened, and finished elsewhere."""
    small = small_disk('2m')
    out = str(small / 'out.zarr')
    command = ['linearize', str(long_bag), '-o', out, '--chunk', str(CHUNK), '--workers', '1']
    assert main(command) == 1
    assert 'No space left on device' in capsys.readouterr().err
    found = open_dataset(out)
    assert found.attrs['complete'] is False
    assert 0 < found.sizes['time'] < ROUNDS * 250
    assert np.isfinite(found.A.values).all()
    shutil.copytree(out, tmp_path / 'out.zarr')
    run(long_bag, tmp_path / 'out.zarr', chunk=CHUNK)
    assert content(tmp_path / 'out.zarr') == expected


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_full_disk__leaves_a_bag_that_ends_there(storage, long_bag, small_disk, capsys):
    """The last MB are for the end of the bag: without it nothing could be read."""
    small = small_disk('12m')
    command = ['replay', str(long_bag), '-o', str(small / 'bag'), '--storage', storage]
    assert main(command) == 1
    assert 'No space left on device' in capsys.readouterr().err
    with Recording([small / 'bag']) as recording:
        assert sorted(recording.counts) == sorted(recording.types)
        assert 50 < recording.counts[LINEARIZATIONS] < ROUNDS * 250
        assert len(list(recording.of_topic(LINEARIZATIONS))) == recording.counts[LINEARIZATIONS]


def test_full_disk__keeps_the_report_and_the_gains_that_were_there(
    long_bag, small_disk, tmp_path, capsys
):
    run(long_bag, tmp_path / 'out.zarr', every=50)
    small = small_disk('12k')
    feet = ','.join(f'{leg}_foot:0.02' for leg in ('FL', 'FR', 'RL', 'RR'))
    for name, command in (
        ('report.html', ['report', str(tmp_path / 'out.zarr')]),
        ('gains.yaml', ['gains', str(FOLDER / 'pushed'), '--feet', feet, '--postures', '1']),
    ):
        file = small / name
        file.write_text('of yesterday')
        assert main([*command, '-o', str(file)]) == 1
        assert 'No space left on device' in capsys.readouterr().err
        assert file.read_text() == 'of yesterday'
        assert list(small.iterdir()) == [file]
        file.unlink()


def test_damaged_bag__is_read_up_to_the_damage(long_bag, tmp_path, capsys):
    bag = tmp_path / 'bag'
    shutil.copytree(long_bag, bag)
    (file,) = bag.glob('*.mcap')
    damaged = bytearray(file.read_bytes())
    at = int(0.6 * len(damaged))
    damaged[at : at + 2000] = bytes(2000)
    file.write_bytes(damaged)
    assert main(['replay', str(bag), '-o', str(tmp_path / 'out')]) == 1
    assert 'cannot be read further than' in capsys.readouterr().err
    with Recording([tmp_path / 'out']) as recording:
        assert 250 < recording.counts[LINEARIZATIONS] < ROUNDS * 250
        assert len(list(recording.of_topic(LINEARIZATIONS))) == recording.counts[LINEARIZATIONS]
    path = tmp_path / 'out.zarr'
    with pytest.raises(RecordingError, match=r'cannot be read further than \d\.\d\d\d s'):
        run(bag, path, chunk=CHUNK)
    found = open_dataset(str(path))
    assert 250 < found.sizes['time'] < ROUNDS * 250
    assert found.attrs['complete'] is False
    run(long_bag, tmp_path / 'whole.zarr', chunk=CHUNK)
    whole = open_dataset(str(tmp_path / 'whole.zarr'))
    rows = slice(0, found.sizes['time'] - 1)  # the last sample lacks a neighbour
    for name in ('A', 'nu_dot', 'residual', 'time'):
        np.testing.assert_array_equal(found[name][rows], whole[name][rows])
