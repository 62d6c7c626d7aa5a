# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All that belongs to one robot description, built at once and replaced as a whole."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geolin_msgs.msg import ForwardDynamics, LinearizationSummary, LinearizedDynamics
from geolin_ros.errors import ModelWarning
from geolin_ros.model.tree import TreeModel
from geolin_ros.ros.parameters import stream_settings
from geolin_ros.stream.linearization_stream import Counts, LinearizationStream
from geolin_ros.stream.messages import ForwardDynamicsWriter, LinearizationWriter, SummaryWriter
from geolin_ros.stream.requests import RequestAnswerer
from geolin_ros.typing import Array


@dataclass
class Pipeline:
    """A stream and the writers of its messages."""

    stream: LinearizationStream
    linearization: LinearizationWriter
    forward_dynamics: ForwardDynamicsWriter
    summary: SummaryWriter
    requests: RequestAnswerer

    @property
    def model(self) -> TreeModel:
        """The robot."""
        return self.stream.model

    def set_world_frame(self, name: str) -> None:
        """Write the header.frame_id of all messages from now on."""
        for writer in (self.linearization, self.forward_dynamics, self.summary):
            writer.message.header.frame_id = name

    def note_spectrum(self, stamp: int, A: Array) -> None:
        """Find the eigenvalues of an earlier A for the next summaries; takes a while."""
        self.summary.write_spectrum(stamp, A, self.stream.settings.form == 'discrete')


def read_model(
    description: str | Path, values: Mapping[str, Any], warn: Callable[[str], object]
) -> TreeModel:
    """Return the model of a description; what is suspicious about it goes to ``warn``."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        model = TreeModel.from_urdf(
            description,
            base=values['base'],
            gravity=values['gravity'],
            mimic=values['mimic'],
        )
    for sentence in model.warnings:
        warn(sentence)
    return model


def make_pipeline(
    model: TreeModel, values: Mapping[str, Any], world_frame: str, counts: Counts
) -> Pipeline:
    """Return a pipeline that is ready to run: everything it needs is allocated and compiled."""
    settings = stream_settings(values)
    stream = LinearizationStream(model, settings, counts)
    stream.rehearse()
    return Pipeline(
        stream,
        LinearizationWriter(LinearizedDynamics(), model, settings, world_frame),
        ForwardDynamicsWriter(ForwardDynamics(), model, world_frame),
        SummaryWriter(LinearizationSummary(), model, world_frame),
        RequestAnswerer(model, settings, LinearizedDynamics),
    )
