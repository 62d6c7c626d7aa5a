# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The odometry of the state estimator, into a bag, from the bag that it would have received."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from geolin_estimation.base_stream import OUTPUTS, BaseStream, BaseWriter, base_settings
from geolin_ros.offline.bag_writer import BagWriter, Storage
from geolin_ros.offline.message_types import WRENCH, empty_message, share_arrays
from geolin_ros.offline.recorded_parameters import read_parameters
from geolin_ros.offline.recording import Recording
from geolin_ros.offline.source import read_robot
from geolin_ros.stream.topics import Counts

NODE = 'state_estimator'


@contextmanager
def open_stream(
    bags: Sequence[str | Path],
    *,
    topics: Mapping[str, str] | None = None,
    urdf: str | Path | None = None,
    params: str | Path | None = None,
    values: Mapping[str, Any] | None = None,
    warn: Callable[[str], object] = lambda sentence: None,
    note: Callable[[str], object] = lambda sentence: None,
) -> Iterator[tuple[Recording, BaseStream]]:
    """Open bags and make the stream of the robot in them; arguments, errors as `open_source`."""
    with Recording(bags, topics, takes_estimates=False) as recording:
        _, merged = read_parameters(recording, NODE, params, values, warn, note)
        _, model = read_robot(recording, merged, urdf, warn)
        yield recording, BaseStream(model, base_settings(merged, model.base_link))


def estimate(
    recording: Recording,
    stream: BaseStream,
    path: str | Path,
    storage: Storage = 'mcap',
    watch: Callable[[Iterable[Any], int], Iterable[Any]] = lambda items, total: items,
) -> Counts:
    """Write a bag with odometry, IMU biases and contact states, stamped as the joint states.

    Joint states are in it too, with rates, where they came without.

    Raises `RecordingError` if a bag is damaged, or the new one cannot be written; what was written
    before stays.
    """
    contacts, imu = stream.settings.contacts, stream.settings.imu.topic
    forces = [foot.topic for foot in contacts.measured_feet]
    for topic in forces:
        recording.add_role(topic, WRENCH)
    states = ['contact_states'] if contacts.source == 'topic' else []
    roles = 'imu', *states, *forces, 'joint_states'
    count = sum(recording.counts[recording.topic(role)] for role in roles)
    writer = BaseWriter(empty_message, stream)
    with BagWriter(path, storage) as bag:
        for name, kind in OUTPUTS.items():
            bag.add_topic(f'/{NODE}/{name}', kind)
        for recorded in watch(recording.messages(roles), count):
            topic = imu if recorded.role == 'imu' else recorded.role
            for answer in stream.take(topic, recorded.message):
                for name, message in writer.write(answer).items():
                    if message is not None:
                        bag.write(f'/{NODE}/{name}', recorded.time, share_arrays(message))
    return stream.counts
