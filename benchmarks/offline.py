# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How long `geolin linearize` takes for a long bag, where the time goes, and its memory.

python -m benchmarks.offline                              10 minutes at 500 Hz, quadruped
python -m benchmarks.offline --minutes 60 --rate 1000     memory must not grow with the length
python -m benchmarks.offline --stages --minutes 1          where the time goes
python -m benchmarks.offline --stages --minutes 1 --robot humanoid
"""

import argparse
import itertools
import resource
import shutil
import struct
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from geolin_demos.demo.flight import THROW_PERIOD, Flight

from geolin_ros import TreeModel, robots
from geolin_ros.offline.bags import (
    JOINT_STATE,
    ODOMETRY,
    STRING,
    BagWriter,
    empty_message,
    known_types,
)
from geolin_ros.offline.linearize import linearize, linearized
from geolin_ros.offline.points import Points, neighbours, point_stream, recorded_points, tabulate
from geolin_ros.offline.source import open_source
from geolin_ros.stream.message_fields import write_pose, write_twist

UNIT = 1024
STAMP = struct.Struct('<iI')
AFTER_ENCAPSULATION = 4


def write_long_bag(path: Path, robot: str, seconds: float, rate: int) -> int:
    """Write a bag that repeats one throw of the demo's robot; return its samples."""
    text = robots.path(robot).read_text()
    cycle = _one_throw(TreeModel.from_urdf(text), rate)
    count = round(seconds * rate)
    with BagWriter(path) as bag:
        for topic, kind in (
            ('/robot_description', STRING),
            ('/odom', ODOMETRY),
            ('/joint_states', JOINT_STATE),
        ):
            bag.add_topic(topic, kind)
        bag.write('/robot_description', 0, known_types().types[STRING](data=text))
        for k, messages in zip(range(count), itertools.cycle(cycle)):
            stamp = 1_000_000_000 + k * 1_000_000_000 // rate
            for topic, message in zip(('/odom', '/joint_states'), messages, strict=True):
                STAMP.pack_into(message, AFTER_ENCAPSULATION, *divmod(stamp, 1_000_000_000))
                bag.write_serialized(topic, stamp, bytes(message))
    return count


def _one_throw(model: TreeModel, rate: int) -> list[tuple[bytearray, bytearray]]:
    flight, cycle = Flight(model), []
    odometry, joints = empty_message(ODOMETRY), empty_message(JOINT_STATE)
    odometry.header.frame_id, odometry.child_frame_id = 'world', model.base_link
    joints.name = list(model.joint_names)
    store = known_types()
    for _ in range(round(THROW_PERIOD * rate) - 1):
        flight.advance(1.0 / rate)
        state = flight.state
        write_pose(odometry.pose.pose, state.H)
        write_twist(odometry.twist.twist, state.v)
        joints.position, joints.velocity, joints.effort = state.s, state.r, flight.tau
        cycle.append(
            (
                bytearray(store.serialize_cdr(odometry, ODOMETRY)),
                bytearray(store.serialize_cdr(joints, JOINT_STATE)),
            )
        )
    return cycle


def stages(bag: Path) -> dict[str, float]:
    """Return the processor time a sample of each stage [us], in one process."""
    with open_source([bag]) as source, tempfile.TemporaryDirectory() as folder:
        model, settings = source.model, source.settings
        count = source.recording.counts['/joint_states']

        def whole(name: str, **sampling: Any) -> None:
            linearize(source, f'{folder}/{name}.zarr', workers=1, **sampling)

        def tables() -> list[Points]:
            points = enumerate(neighbours(recorded_points(point_stream(source, print), source)))
            units = iter(lambda: list(itertools.islice(points, UNIT)), [])
            return [tabulate(model, unit) for unit in units]

        def linearize_all() -> None:
            for table in samples:
                linearized(model, settings, table)

        whole('first', every=100)  # compiles, imports
        samples = tables()
        reading = _taken(lambda: sum(1 for _ in source.recording.messages(source.inputs)))
        paired, computed = _taken(tables), _taken(linearize_all)
        without = _taken(lambda: whole('without', eig_rate=0.0))
        spectra = _taken(lambda: whole('spectra')) - without
    taken = {
        'read and decode': reading,
        'pair, check, tabulate': paired - reading,
        'linearize': computed,
        'compress, write': without - paired - computed,
        'eigenvalues at 50 Hz': spectra,
        'all': without + spectra,
    }
    return {name: duration / count * 1e6 for name, duration in taken.items()}


def over_necessary(taken: dict[str, float]) -> float:
    """Return how much more all takes than reading, linearizing and writing."""
    necessary = 'read and decode', 'linearize', 'compress, write'
    return taken['all'] / sum(taken[name] for name in necessary)


def _taken(function: Callable[[], object]) -> float:
    """Return the processor time of a call [s], of all threads."""
    start = time.process_time()
    function()
    return time.process_time() - start


def _cpu() -> float:
    """Return the processor time of this process and those that have ended [s]."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def main() -> None:
    """Write a bag, linearize it, and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robot', default='quadruped', choices=('quadruped', 'humanoid'))
    parser.add_argument('--minutes', type=float, default=10.0)
    parser.add_argument('--rate', type=int, default=500)
    parser.add_argument('--workers', type=int)
    parser.add_argument('--eig-rate', type=float, default=50.0)
    parser.add_argument('--every', type=int, default=1)
    parser.add_argument('--stages', action='store_true', help='where the time goes')
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix='geolin-'))
    try:
        start = time.perf_counter()
        count = write_long_bag(folder / 'bag', options.robot, 60 * options.minutes, options.rate)
        size = sum(file.stat().st_size for file in (folder / 'bag').iterdir())
        duration = time.perf_counter() - start
        print(f'bag: {count} samples, {size / 1e6:.0f} MB, written in {duration:.1f} s')
        if options.stages:
            taken = stages(folder / 'bag')
            for name, duration in taken.items():
                print(f'{name:30} {duration:8.1f} us a sample')
            print(f'all over reading, linearizing and writing {over_necessary(taken):.2f}')
            return
        start, before = time.perf_counter(), _cpu()
        with open_source([folder / 'bag']) as source:
            result = linearize(
                source,
                str(folder / 'out.zarr'),
                every=options.every,
                eig_rate=options.eig_rate,
                workers=options.workers,
            )
        duration = time.perf_counter() - start
        files = [
            file.stat().st_size for file in (folder / 'out.zarr').rglob('*') if file.is_file()
        ]
        own, others = (
            resource.getrusage(who).ru_maxrss / 1024
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        print(
            f'dataset: {result.samples} samples, {result.spectra} spectra in {duration:.1f} s '
            f'({duration / count * 1e6:.1f} us a sample, {_cpu() - before:.1f} s of CPU in all), '
            f'{sum(files) / 1e6:.0f} MB in {len(files)} files; '
            f'peak RSS {own:.0f} MB reading, {others:.0f} MB the largest worker'
        )
    finally:
        shutil.rmtree(folder)


if __name__ == '__main__':
    main()
