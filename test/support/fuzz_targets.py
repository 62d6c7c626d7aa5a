# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What takes bytes from outside, each as a function of bytes that may raise nothing.

A `GeolinError` says what is wrong and is what is wanted; anything else is a bug.
"""

import contextlib
import functools
import sqlite3
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from geolin_ros import TreeModel, robots, urdf
from geolin_ros.description import apply_overlay
from geolin_ros.description.overlay import parse_overlay
from geolin_ros.errors import GeolinError, ModelWarning
from geolin_ros.offline.recording import Recording
from geolin_ros.stream.parameters.file import default_values, read_parameter_file
from geolin_ros.stream.parameters.linearizer import model_options, stream_settings
from support.bags import Messages, flight, quadruped, write_bag, write_ros1_bag
from support.fuzz_nodes import NODES

MOST_JOINTS = 60
"""Larger models are read but not built: that takes longer than an execution may."""


@dataclass(frozen=True)
class Target:
    """A reader under fuzzing.

    Attributes
    ----------
    reads
        Takes bytes; returns whether all of it was of use, or raises a `GeolinError`.
    seeds
        Returns bytes that are of use.
    """

    reads: Callable[[bytes], bool]
    seeds: Callable[[], list[bytes]]

    def __call__(self, data: bytes) -> None:
        """Read any bytes."""
        with contextlib.suppress(GeolinError), warnings.catch_warnings():
            warnings.simplefilter('error')
            warnings.simplefilter('ignore', ModelWarning)
            self.reads(data)


def _urdf_bytes(data):
    """A description as bytes; what can be read can be built or says why not."""
    description = urdf.read(data)
    if len(description.joints) <= MOST_JOINTS:
        TreeModel.from_description(description)
    return True


def _urdf_text(data):
    """A description as the text of a message."""
    return bool(urdf.read_text(data.decode('utf-8', 'surrogateescape')).joints)


@functools.cache
def _plain():
    description = urdf.read(robots.path('quadruped'))
    return description, TreeModel.from_description(description).hash


def _overlay(data):
    """An overlay over the quadruped."""
    description, plain = _plain()
    changed = apply_overlay(description, parse_overlay(data.decode('utf-8', 'replace')))
    return TreeModel.from_description(changed).hash != plain


def _parameters(data):
    """A ROS parameter file, and what a node makes of it."""
    with _file(data, '.yaml') as path:
        read = read_parameter_file(path)
    values = default_values() | read
    stream_settings(values)
    model_options(values)
    return bool(read)


SUFFIXES = '.mcap', '.db3', '.bag'


def _bag(data):
    """A bag of either storage or of ROS 1, told apart by the first byte."""
    suffix = SUFFIXES[data[0] % len(SUFFIXES)] if data else ''
    with _file(data[1:], suffix) as path, Recording([path]) as recording:
        roles = {recorded.role for recorded in recording.messages(recording.topics)}
    return {'joint_states', 'odom'} <= roles


@contextlib.contextmanager
def _file(data, suffix):
    folder = '/dev/shm' if Path('/dev/shm').is_dir() else None
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path = Path(name) / f'file{suffix}'
        path.write_bytes(data)
        yield path


def _urdf_seeds():
    links = b''.join(
        b'<link name="%c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        b'ixz="0" iyz="0"/></inertial></link>' % name
        for name in b'abc'
    )
    mimic = (
        b'<joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
        b'<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        b'<joint name="k" type="continuous"><parent link="b"/><child link="c"/>'
        b'<mimic joint="j" multiplier="2"/></joint>'
    )
    bundled = [robots.path(name).read_bytes() for name in ('quadruped', 'humanoid')]
    return [*bundled, b'<robot name="r">' + links + mimic + b'</robot>']


def _overlay_seeds():
    return [
        b'joints:\n  "*_calf_joint": {rotor_inertia: 1.0e-4, gear_ratio: 9.1, damping: 0.1}\n'
        b'payloads:\n  - {frame: base, mass: 2.0, com: [0, 0, 0.1], '
        b'inertia: [0.01, 0.01, 0.01, 0, 0, 0]}\n'
    ]


def _parameter_seeds():
    file = Path(__file__).resolve().parents[2] / 'config' / 'linearizer.yaml'
    return [file.read_bytes(), b'/**: {ros__parameters: {max_skew: 0.1, overlay: "joints: {}"}}']


@functools.cache
def _bag_seeds():
    """Two joint states and two odometries, in files of each kind."""
    model, _ = quadruped()
    samples = flight(model, 2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for storage, compression in (('mcap', 'none'), ('mcap', 'storage'), ('sqlite3', 'none')):
            messages = Messages(model).of_samples(samples)
            path = folder / f'{storage} {compression}'
            write_bag(path, messages, storage=storage, compression=compression)
        write_ros1_bag(folder / 'file.bag', model, samples, '')
        for file in folder.rglob('*.db3'):
            _shrink(file)
        return [
            bytes([number]) + file.read_bytes()
            for number, suffix in enumerate(SUFFIXES)
            for file in sorted(folder.rglob(f'*{suffix}'))
        ]


def _shrink(database):
    """Use smaller pages: a seed is no use if it is mostly zeros."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute('PRAGMA page_size = 512')
        connection.execute('VACUUM')


TARGETS = {
    'urdf_bytes': Target(_urdf_bytes, _urdf_seeds),
    'urdf_text': Target(_urdf_text, _urdf_seeds),
    'overlay': Target(_overlay, _overlay_seeds),
    'parameters': Target(_parameters, _parameter_seeds),
    'bag': Target(_bag, _bag_seeds),
    **{name: Target(node.reads, node.seeds) for name, node in NODES.items()},
}
