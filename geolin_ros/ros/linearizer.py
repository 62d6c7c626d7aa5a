# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node: joint states and odometry in, A, B and accelerations out."""

import sys

if __name__ == '__main__':  # before the imports that take seconds, as the console script
    from geolin_ros.ros.programs import linearizer

    sys.exit(linearizer())

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.clock import JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.logging import get_logging_directory
from sensor_msgs.msg import Imu, JointState

from geolin_msgs import msg
from geolin_msgs.srv import Linearize, LinearizeAlong
from geolin_ros.errors import ConfigurationError
from geolin_ros.renamed import old_names
from geolin_ros.ros.diagnostics import ThrottledLog
from geolin_ros.ros.robot_node import Input, Output, Pipeline, Reading, RobotNode
from geolin_ros.ros.running import STEADY, Program, run, with_old_name
from geolin_ros.ros.topics import LATCHED_BY_MANY, type_of
from geolin_ros.stream.analysis import Snapshot, analyse
from geolin_ros.stream.inputs.plausibility import Window, findings
from geolin_ros.stream.linearization_stream import Answer, LinearizationStream
from geolin_ros.stream.outputs.messages import (
    OUTPUTS,
    ForwardDynamicsWriter,
    LinearizationWriter,
    SummaryWriter,
    empty_linearization,
)
from geolin_ros.stream.parameters.linearizer import TABLE, stream_settings
from geolin_ros.stream.self_check import Sample
from geolin_ros.stream.warm_up import warm_up

if TYPE_CHECKING:  # they are loaded where they are wanted
    from geolin_ros.stream.outputs.markers import MarkerWriter
    from geolin_ros.stream.requests import RequestAnswerer

BACKWARDS = JumpThreshold(
    min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False
)

PROGRAM = Program(
    'linearizer',
    'Publishes the geometric linearization A, B of a floating-base robot at each joint state.',
    'robot_description, joint_states, odom, joint_efforts; by parameter tf, contacts, wrenches',
    '~/linearization, ~/forward_dynamics, ~/summary, by parameter ~/markers; services '
    '~/linearize, ~/linearize_along',
)
TOPIC_NAMES = {'wrench_topics', 'base_source', 'contact_source', 'foot_force_topics'}
"""Parameters that say what is subscribed to."""
WARNING_PERIOD = 30.0
"""Time between two warnings of the same kind [s]."""
MOST_FAILED_CHECK_FILES = 10
"""Of one run; later ones are logged, not saved."""


@dataclass(eq=False)
class LinearizerPipeline(Pipeline):
    """A stream, the writers of its messages, and the `Reading` that it was made of."""

    stream: LinearizationStream
    writer: LinearizationWriter
    forward_dynamics: ForwardDynamicsWriter
    summary: SummaryWriter
    reading: Reading
    markers: 'MarkerWriter | None'
    """None if nobody asked for them."""
    warnings: Mapping[str, str] = field(default_factory=dict)
    """About the inputs of the last second or so."""

    @cached_property
    def requests(self) -> 'RequestAnswerer':
        """What answers requests; made by the first."""
        from geolin_ros.stream.requests import RequestAnswerer

        make = partial(empty_linearization, _make, self.model)
        return RequestAnswerer(self.model, self.stream.settings, make, msg.ContactState)

    def analyse(self, snapshot: Snapshot) -> None:
        """Analyse an earlier answer for the next summaries; takes a while."""
        self.summary.analysis = analyse(self.model, self.stream.settings, snapshot)
        if self.markers is not None:
            self.markers.show_modes(self.stream.settings, snapshot)


def _make(name: str) -> Any:
    return getattr(msg, name)()


class LinearizerNode(RobotNode):
    """Publishes the linearization of a robot about each of its joint states.

    Threads of their own find eigenvalues once a second and check A and B now and then, so that
    they never hold up the others.
    """

    ABOUT = 'linearizations', 'odometry'
    compile = staticmethod(warm_up)

    def __init__(self, **options: Any) -> None:
        super().__init__('linearizer', TABLE, **options)
        self._analyst = self.worker('eigenvalues')
        self._checker = self.worker('certificate')
        self._answerer = self.worker('requests')
        self._static: dict[str, Any] = {}  # transforms that are sent once, maybe before a robot
        # rclpy takes one severity a line of code: this line is for errors
        self._complain = ThrottledLog(lambda words: self.get_logger().error(words))
        self._warn = ThrottledLog(self.get_logger().warning, WARNING_PERIOD)
        self._trigger: Any = None
        self._latest: tuple[LinearizerPipeline, Snapshot] | None = None

    def outputs(self) -> Sequence[Output]:
        """Return what is published."""
        outputs = [Output(type_of(kind), f'~/{topic}') for topic, kind in OUTPUTS.items()]
        if self._values['marker_rate'] > 0.0:
            from visualization_msgs.msg import MarkerArray

            outputs.append(Output(MarkerArray, '~/markers'))
        return outputs

    def inputs(self) -> Sequence[Input]:
        """Return what is subscribed to."""
        settings = stream_settings(self._values)
        inputs = [
            Input(JointState, 'joint_states'),
            Input(JointState, 'joint_efforts'),
            Input(Odometry, 'odom'),
        ]
        if settings.base_source == 'tf':
            from tf2_msgs.msg import TFMessage

            inputs += [
                Input(TFMessage, '/tf', partial(self.take, 'tf')),
                Input(TFMessage, '/tf_static', self._on_static, LATCHED_BY_MANY),
                Input(Imu, 'imu'),
            ]
        if settings.contacts.source == 'topic':
            inputs.append(Input(msg.ContactStates, 'contact_states'))
        return inputs + [Input(WrenchStamped, topic) for topic in settings.force_topics]

    def check(self, values: Mapping[str, Any]) -> None:
        """Refuse what contradicts itself, and transforms where their messages are missing."""
        stream_settings(values)
        for name, is_used, package in (
            ('base_source', values['base_source'] == 'tf', 'tf2_msgs'),
            ('marker_rate', values['marker_rate'] > 0.0, 'visualization_msgs'),
        ):
            if is_used and find_spec(package) is None:
                raise ConfigurationError(
                    f'parameter {name} is {values[name]}, which needs the package {package}; '
                    f'install it, or leave {name} at its default'
                )

    def _on_static(self, message: Any) -> None:
        self._static |= {stamped.child_frame_id: stamped for stamped in message.transforms}
        self._repeat_static()

    def _repeat_static(self) -> None:
        """Hand on all static transforms once more: there may be another robot."""
        self.take('tf_static', SimpleNamespace(transforms=list(self._static.values())))

    def make_stream(self, reading: Reading) -> LinearizationStream:
        """Return a stream; it looks up all frames that parameters name."""
        return LinearizationStream(reading.model, stream_settings(reading.values), self._counts)

    def make_pipeline(self, reading: Reading) -> LinearizerPipeline:
        """Return stream and writers: everything they need is allocated and compiled."""
        stream, model = self.make_stream(reading), reading.model
        settings, markers, rate = stream.settings, None, reading.values['marker_rate']
        stream.warm_up()
        if rate > 0.0:
            from visualization_msgs.msg import Marker, MarkerArray

            from geolin_ros.stream.outputs.markers import MarkerWriter

            markers = MarkerWriter(MarkerArray, Marker, Point, model, 1.0 / rate)
        message = empty_linearization(_make, model, len(settings.wrench_topics))
        return LinearizerPipeline(
            stream,
            LinearizationWriter(message, model, settings, make_contact=msg.ContactState),
            ForwardDynamicsWriter(msg.ForwardDynamics(), model, settings.frame_prefix),
            SummaryWriter(msg.LinearizationSummary(), model),
            reading,
            markers,
        )

    def adopt(self, pipeline: LinearizerPipeline, earlier: LinearizerPipeline | None) -> None:
        """Start with the newest inputs of the earlier one, and all static transforms."""
        if earlier is not None:
            pipeline.stream.resume(earlier.stream)
        self._repeat_static()

    # ---- lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Offer the services too."""
        result = super().on_configure(state)
        self._offered = [
            self.create_service(Linearize, '~/linearize', self._on_request),
            self.create_service(LinearizeAlong, '~/linearize_along', self._on_trajectory),
        ]
        self._periodic.append(self.create_timer(1.0, self._analyse, clock=STEADY))
        return result

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start the timer too, if it is one that triggers."""
        self._set_trigger(True)
        self._clock_jumps = self.get_clock().create_jump_callback(
            BACKWARDS, post_callback=self._on_clock_jump
        )
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the timer too, and answer what still waits for odometry."""
        self._set_trigger(False)
        self.take('end', None)
        self._clock_jumps.unregister()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Withdraw the services too."""
        for service in self._offered:
            self.destroy_service(service)
        self._latest = None
        return super().on_cleanup(state)

    def on_changed(self, names: set[str]) -> None:
        """Take another trigger or other topics at once."""
        if self._is_active and names & TOPIC_NAMES:
            self._close_inputs()
            self._open_inputs()
        if self._is_active and names & {'trigger', 'timer_rate'}:
            self._set_trigger(True)

    def publish(self, pipeline: LinearizerPipeline, answer: Answer, start: float) -> None:
        """Publish a linearization and what belongs to it."""
        linearization, forward_dynamics, summary, *others = self._outputs
        linearization.publish(pipeline.writer.write(answer))
        latency = time.perf_counter() - answer.point.received_at
        forward_dynamics.publish(pipeline.forward_dynamics.write(answer))
        summary.publish(pipeline.summary.write(answer, self._counts, latency))
        markers = pipeline.markers
        if markers is not None and markers.is_due(answer):
            others[0].publish(markers.write(answer))
        self._diagnostics.latencies.append(latency)
        self._diagnostics.ages.append(abs(answer.point.odometry_age))
        sample = pipeline.stream.self_check.due(answer)
        if sample is not None:
            self._aside(self._checker, self._certify, pipeline, sample)
        if self._latest is None:  # once a second, see _on_second
            snapshot = Snapshot(answer.point.stamp, answer.A.copy(), answer.point.state.copy())
            self._latest = pipeline, snapshot

    async def _on_request(self, request: Any, response: Any) -> Any:
        now = self.get_clock().now().nanoseconds

        def answer(pipeline: LinearizerPipeline) -> Any:
            return pipeline.requests.answer(request, response, now, pipeline.stream.world_frame)

        return await self._answer(answer, response)

    async def _on_trajectory(self, request: Any, response: Any) -> Any:
        return await self._answer(lambda p: p.requests.answer_along(request, response), response)

    async def _answer(self, answer: Callable[[LinearizerPipeline], Any], response: Any) -> Any:
        """Answer in a thread of its own: what nobody has asked for yet is compiled first."""
        pipeline = self._pipeline
        if pipeline is None:
            response.success, response.message = False, f'waits for {self.waits_for()}'
            return response
        return await self.aside(self._answerer, answer, pipeline)

    def _on_clock_jump(self, jump: TimeJump) -> None:
        """Start anew with a simulation or a bag that does."""
        if self._pipeline is not None:
            self._pipeline.stream.forget()
            self._repeat_static()
        self.get_logger().info(f'clock jumped by {jump.delta.nanoseconds * 1e-9:+.3f} s: anew')

    def _set_trigger(self, is_on: bool) -> None:
        if self._trigger is not None:
            self.destroy_timer(self._trigger)
        self._trigger = None
        if is_on and self._values['trigger'] == 'timer':
            period = 1.0 / self._values['timer_rate']
            self._trigger = self.create_timer(period, partial(self.take, 'timer', None))

    # ---- once a second

    def report(self, waits_for: str | None) -> DiagnosticArray:
        """Return rates, latencies, drops and what the model is."""
        pipeline, about = self._pipeline, tuple[Any, ...]()
        if pipeline is not None and self._is_active:
            check = pipeline.stream.self_check
            about = check.errors, [*pipeline.warnings.values(), *check.warnings]
        stream = pipeline and pipeline.stream
        now = self.get_clock().now()
        return self._diagnostics.report(now, stream, self._counts, waits_for, *about)

    def _certify(self, pipeline: LinearizerPipeline, sample: Sample) -> None:
        """Check a linearization; if it fails, keep it, and say so."""
        verdict = pipeline.stream.self_check.check(sample)
        if verdict is None or not verdict.certificate.failed:
            return
        from geolin_ros.stream.failed_check import failed_check_report, save_failed_check

        folder = Path(self._values['certificate.folder'] or get_logging_directory()).expanduser()
        where = f'not kept, {MOST_FAILED_CHECK_FILES} others are in {folder}'
        if verdict.failures <= MOST_FAILED_CHECK_FILES:
            model, description, values = pipeline.reading
            found = model, sample, verdict.certificate
            try:
                path = save_failed_check(folder, description, values, *found)
                where = f'kept for `geolin recheck {path}`'
            except OSError as error:
                where = f'not kept: {error}'
        self._complain('failed check', f'{failed_check_report(sample, verdict)}; {where}')

    def _analyse(self) -> None:
        latest, self._latest = self._latest, None
        pipeline = self._pipeline
        if pipeline is None:
            return
        if latest is not None and latest[0] is pipeline:  # not of a robot that is no more
            self._aside(self._analyst, pipeline.analyse, latest[1])
        watch = pipeline.stream.watch
        if not watch.is_open:
            window = watch.take()
            if window is not None:
                self._aside(self._analyst, self._judge, pipeline, window)
            watch.open()

    def _aside(self, thread: ThreadPoolExecutor, work: Callable[..., None], *about: Any) -> None:
        """Let another thread do something; what goes wrong there is logged."""

        def guarded_work() -> None:
            try:
                work(*about)
            except Exception as error:
                self._complain(repr(type(error)), traceback.format_exc())

        thread.submit(guarded_work)

    def _judge(self, pipeline: LinearizerPipeline, window: Window) -> None:
        """Judge a stretch of inputs, and log the warnings about it."""
        model, settings = pipeline.model, pipeline.stream.settings
        pipeline.warnings = findings(window, model, settings.twist_frame, settings.max_skew)
        for source, sentence in pipeline.warnings.items():
            self._warn(source, sentence)


__getattr__ = old_names(__name__)


def main(arguments: list[str] | None = None) -> int:
    """Run the node until a signal ends it; return the exit status."""
    return run(LinearizerNode, PROGRAM, with_old_name(arguments, PROGRAM.name))
