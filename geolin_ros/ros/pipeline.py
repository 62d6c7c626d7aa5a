# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All that belongs to one robot description, built at once and replaced as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from geometry_msgs.msg import Point

from geolin_msgs import msg
from geolin_msgs.msg import ForwardDynamics, LinearizationSummary, LinearizedDynamics
from geolin_ros.model.tree import TreeModel
from geolin_ros.ros.robot_node import Pipeline, Reading
from geolin_ros.stream.analysis import Snapshot, analyse
from geolin_ros.stream.inputs.plausibility import Finding, Window, findings
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.outputs.messages import (
    ForwardDynamicsWriter,
    LinearizationWriter,
    SummaryWriter,
    empty_linearization,
)

if TYPE_CHECKING:  # imported where they are asked for
    from geolin_ros.stream.outputs.markers import MarkerWriter
    from geolin_ros.stream.requests import RequestAnswerer


@dataclass(eq=False)
class LinearizerPipeline(Pipeline):
    """A stream, the writers of its messages, and the `Reading` that it was made of."""

    stream: LinearizationStream
    writer: LinearizationWriter
    forward_dynamics: ForwardDynamicsWriter
    summary: SummaryWriter
    reading: Reading
    markers: 'MarkerWriter | None' = None
    """None if nobody asked for them."""
    warnings: Sequence[Finding] = ()
    """About the inputs of the last second or so."""

    @cached_property
    def requests(self) -> 'RequestAnswerer':
        """What answers requests; made by the first."""
        from geolin_ros.stream.requests import RequestAnswerer

        make = partial(make_message, self.model)
        return RequestAnswerer(self.model, self.stream.settings, make, msg.ContactState)

    def analyse(self, snapshot: Snapshot) -> None:
        """Analyse an earlier answer for the next summaries; takes a while."""
        self.summary.analysis = analyse(self.model, self.stream.settings, snapshot)
        if self.markers is not None:
            self.markers.show_modes(self.stream.settings, snapshot)

    def judge(self, window: Window) -> None:
        """Judge a stretch of inputs."""
        settings = self.stream.settings
        self.warnings = findings(window, self.model, settings.twist_frame, settings.max_skew)


def make_pipeline(reading: Reading, stream: LinearizationStream) -> LinearizerPipeline:
    """Return a pipeline that is ready to run: everything it needs is allocated and compiled."""
    model, settings = stream.model, stream.settings
    stream.warm_up()
    return LinearizerPipeline(
        stream,
        LinearizationWriter(
            make_message(model, len(settings.wrench_topics)),
            model,
            settings,
            make_contact=msg.ContactState,
        ),
        ForwardDynamicsWriter(ForwardDynamics(), model, settings.frame_prefix),
        SummaryWriter(LinearizationSummary(), model),
        reading,
        _markers(reading.values['marker_rate'], model),
    )


def _markers(rate: float, model: TreeModel) -> 'MarkerWriter | None':
    """Return what draws for RViz at a rate [Hz]; None at 0."""
    if not rate > 0.0:
        return None
    from visualization_msgs.msg import Marker, MarkerArray

    from geolin_ros.stream.outputs.markers import MarkerWriter

    return MarkerWriter(MarkerArray, Marker, Point, model, 1.0 / rate)


def make_message(model: TreeModel, wrenches: int = 0) -> LinearizedDynamics:
    """Return an empty message about a robot."""
    return empty_linearization(lambda name: getattr(msg, name)(), model, wrenches)
