# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The bag that a node would have published, from the bag that it would have received."""

import time
from collections.abc import Callable
from pathlib import Path

from geolin_ros.offline.bags import (
    CONTACT,
    FORWARD_DYNAMICS,
    SUMMARY,
    BagWriter,
    Compression,
    Storage,
    empty_message,
    share_arrays,
)
from geolin_ros.offline.points import Watch, feed
from geolin_ros.offline.source import Source
from geolin_ros.stream.analysis import Snapshot, analyse
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.outputs.messages import (
    OUTPUTS,
    ForwardDynamicsWriter,
    LinearizationWriter,
    SummaryWriter,
    empty_linearization,
)
from geolin_ros.stream.topic_stream import Counts, DroppedInput

NODE = '/linearizer'
ANALYSIS_PERIOD = 1_000_000_000
"""Eigenvalues are found this often [ns], as by the node."""


def replay(
    source: Source,
    path: str | Path,
    *,
    node: str = NODE,
    storage: Storage = 'mcap',
    compression: Compression = 'none',
    watch: Watch = lambda items, total: items,
    on_drop: Callable[[DroppedInput], object] = lambda drop: None,
) -> Counts:
    """Write a bag with what a node publishes that gets the messages of a source in their order.

    Linearizations and forward dynamics are the node's byte by byte, but for the compute time and
    trust. In summaries, times that were measured and the moment of the eigenvalues differ too.
    ``path`` is the new bag's folder, ``node`` the name in front of its topics; ``on_drop`` is
    called with each input that could not be used.

    Raises `RecordingError` if an input is missing, a bag is damaged, or the new one exists or
    cannot be written; what was written before stays.
    """
    source.require_inputs()
    model, settings, analysed = source.model, source.settings, None
    stream = LinearizationStream(model, settings)
    stream.on_drop = on_drop
    empty = empty_linearization(
        lambda name: empty_message(f'geolin_msgs/msg/{name}'), model, len(settings.wrench_topics)
    )
    linearization = LinearizationWriter(
        empty, model, settings, make_contact=lambda: empty_message(CONTACT)
    )
    dynamics = ForwardDynamicsWriter(empty_message(FORWARD_DYNAMICS), model, settings.frame_prefix)
    summary = SummaryWriter(empty_message(SUMMARY), model)
    for writer in (linearization, dynamics, summary):
        share_arrays(writer.message)
    with BagWriter(path, storage, compression) as bag:
        for name, kind in OUTPUTS.items():
            bag.add_topic(f'{node}/{name}', kind)
        messages = source.recording.messages(source.inputs)
        for recorded, answer in feed(stream, watch(messages, source.message_count)):
            message = linearization.write(answer)
            for grown in (message.contact_dynamics, message.mass_matrix):
                share_arrays(grown)
            latency = time.perf_counter() - answer.point.received_at
            others = dynamics.write(answer), summary.write(answer, stream.counts, latency)
            for name, written in zip(OUTPUTS, (message, *others), strict=True):
                bag.write(f'{node}/{name}', recorded.time, written)
            if analysed is None or not 0 <= recorded.time - analysed < ANALYSIS_PERIOD:
                analysed = recorded.time
                snapshot = Snapshot(answer.point.stamp, answer.A, answer.point.state)
                summary.analysis = analyse(model, settings, snapshot)
    return stream.counts
