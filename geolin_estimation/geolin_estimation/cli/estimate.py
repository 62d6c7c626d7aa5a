# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin estimate``: a bag of odometry from a bag of IMU, joint states and contacts."""

import argparse
from typing import Any

from geolin_estimation.base_stream import OUTPUTS, BaseStream, BaseWriter, base_settings
from geolin_ros.cli._options import (
    BAG_STAYS,
    Progress,
    add_bag_arguments,
    add_new_bag_arguments,
    add_output_arguments,
    exit_status,
    first_drops,
    opening,
    show,
)
from geolin_ros.offline.bags import WRENCH, BagWriter, empty_message, share_arrays
from geolin_ros.offline.recording import Recording
from geolin_ros.offline.source import read_parameters, read_robot

INTERRUPTED = BAG_STAYS
NODE = 'state_estimator'


def _write(recording: Recording, stream: BaseStream, options: argparse.Namespace) -> None:
    """Write a bag of `OUTPUTS`, stamped as the joint states; after errors, what is in it stays."""
    contacts, imu = stream.settings.contacts, stream.settings.imu.topic
    forces = [foot.topic for foot in contacts.measured_feet]
    for topic in forces:
        recording.add_role(topic, WRENCH)
    states = ['contact_states'] if contacts.source == 'topic' else []
    roles = 'imu', *states, *forces, 'joint_states'
    count = sum(recording.counts[recording.topic(role)] for role in roles)
    writer = BaseWriter(empty_message, stream)
    with BagWriter(options.output, options.storage) as bag:
        for name, kind in OUTPUTS.items():
            bag.add_topic(f'/{NODE}/{name}', kind)
        for recorded in Progress(options)(recording.messages(roles), count):
            topic = imu if recorded.role == 'imu' else recorded.role
            for answer in stream.take(topic, recorded.message):
                for name, message in writer.write(answer).items():
                    if message is not None:
                        bag.write(f'/{NODE}/{name}', recorded.time, share_arrays(message))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_bag_arguments(parser)
    add_new_bag_arguments(parser)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Write the bag; 1 if there is no odometry, 2 if inputs were dropped."""
    given = opening(options)
    sources, says = (given['params'], given['values']), (given['warn'], given['note'])
    with Recording(given['bags'], given['topics'], takes_estimates=False) as recording:
        _, values = read_parameters(recording, NODE, *sources, *says)
        _, model = read_robot(recording, values, given['urdf'], given['warn'])
        stream = BaseStream(model, base_settings(values, model.base_link))
        stream.on_drop = first_drops()
        _write(recording, stream, options)
    counts = stream.counts
    result: dict[str, Any] = {
        'output': str(options.output),
        'joint_states': counts.received,
        'estimates': counts.answered,
        'before_the_start': counts.skipped,
        'dropped': {cause.value: count for cause, count in counts.drops.items()},
    }
    text = (
        f'{options.output}: {counts.answered} odometries of {counts.received} joint states, '
        f'{counts.skipped} before the start, {counts.dropped} inputs dropped; its inputs are not '
        f'in it, give both: geolin inspect {" ".join(map(str, options.bags))} {options.output}'
    )
    show(options, result, text)
    return exit_status(counts.answered, result['dropped'])
