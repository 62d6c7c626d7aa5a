# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The bag that a node would have published, from the bag that it would have received."""

import time
from collections.abc import Callable
from pathlib import Path

from geolin_ros.offline.bag_writer import BagWriter, Compression, Storage
from geolin_ros.offline.message_types import (
    CONTACT,
    FORWARD_DYNAMICS,
    LINEARIZATION,
    SUMMARY,
    empty_message,
    share_arrays,
)
from geolin_ros.offline.points import Watch, feed
from geolin_ros.offline.source import Source
from geolin_ros.stream.analysis import Snapshot, analyse
from geolin_ros.stream.drops import DroppedInput
from geolin_ros.stream.linearization_stream import Answer, LinearizationStream
from geolin_ros.stream.outputs.messages import (
    ForwardDynamicsWriter,
    LinearizationWriter,
    SummaryWriter,
    empty_linearization,
)
from geolin_ros.stream.topics import Counts

NODE = '/linearizer'
OUTPUTS = {
    'linearization': LINEARIZATION,
    'forward_dynamics': FORWARD_DYNAMICS,
    'summary': SUMMARY,
}
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
    stream = LinearizationStream(source.model, source.settings)
    stream.on_drop = on_drop
    with BagWriter(path, storage, compression) as bag:
        writer = _Writer(source, bag, node)
        messages = source.recording.messages(source.inputs)
        for recorded, answer in feed(stream, watch(messages, source.message_count)):
            writer.write(recorded.time, answer, stream.counts)
    return stream.counts


class _Writer:
    """Writes the three messages of each answer."""

    def __init__(self, source: Source, bag: BagWriter, node: str) -> None:
        model, settings = source.model, source.settings
        message = empty_linearization(
            lambda name: empty_message(f'geolin_msgs/msg/{name}'),
            model,
            len(settings.wrench_topics),
        )
        self._linearization = LinearizationWriter(
            message, model, settings, make_contact=lambda: empty_message(CONTACT)
        )
        self._dynamics = ForwardDynamicsWriter(
            empty_message(FORWARD_DYNAMICS), model, settings.frame_prefix
        )
        self._summary = SummaryWriter(empty_message(SUMMARY), model)
        for writer in (self._linearization, self._dynamics, self._summary):
            share_arrays(writer.message)
        self._last_analysis: int | None = None
        self._source, self._bag, self._node = source, bag, node
        for name, kind in OUTPUTS.items():
            bag.add_topic(f'{node}/{name}', kind)

    def write(self, recorded: int, answer: Answer, counts: Counts) -> None:
        """Write messages about an answer."""
        linearization = self._linearization.write(answer)
        for grown in (linearization.contact_dynamics, linearization.mass_matrix):
            share_arrays(grown)
        latency = time.perf_counter() - answer.received_at
        dynamics = self._dynamics.write(answer)
        summary = self._summary.write(answer, counts, latency)
        for name, message in zip(OUTPUTS, (linearization, dynamics, summary), strict=True):
            self._bag.write(f'{self._node}/{name}', recorded, message)
        last = self._last_analysis
        if last is None or not 0 <= recorded - last < ANALYSIS_PERIOD:
            self._last_analysis = recorded
            snapshot = Snapshot(answer.stamp, answer.A, answer.state)
            self._summary.analysis = analyse(self._source.model, self._source.settings, snapshot)
