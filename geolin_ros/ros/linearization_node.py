# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node: joint states and odometry in, A, B and accelerations out."""

import concurrent.futures
import copy
import functools
import gc
import os
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import (
    DurabilityPolicy,
    QoSPolicyKind,
    QoSProfile,
    ReliabilityPolicy,
)
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from geolin_msgs.msg import ForwardDynamics, LinearizationSummary, LinearizedDynamics
from geolin_msgs.srv import Linearize
from geolin_ros.errors import ConfigurationError, GeolinError
from geolin_ros.model.tree import TreeModel
from geolin_ros.ros.diagnostics import Diagnostics
from geolin_ros.ros.executor import handled_signals, spin
from geolin_ros.ros.parameters import MODEL_NAMES, TABLE, Parameter, check_all
from geolin_ros.ros.pipeline import Pipeline, make_pipeline, read_model
from geolin_ros.ros.statistics import ThrottledLog
from geolin_ros.stream.analysis import Snapshot
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.linearization_stream import Answer, Counts
from geolin_ros.warm_up import warm_up

LATCHED = QoSProfile(
    depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE
)
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
# Sensor data with room for 40 ms at 500 Hz: a busy machine then loses nothing.
SENSOR_DATA = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


OVERRIDABLE = QoSOverridingOptions(
    (
        QoSPolicyKind.HISTORY,
        QoSPolicyKind.DEPTH,
        QoSPolicyKind.RELIABILITY,
        QoSPolicyKind.DURABILITY,
    )
)


def overridable(profile: QoSProfile) -> dict[str, Any]:
    """Return options of an endpoint whose QoS parameters may override: rclpy writes into it."""
    return {'qos_profile': copy.copy(profile), 'qos_overriding_options': OVERRIDABLE}


Transition = Callable[[Any, LifecycleState], TransitionCallbackReturn]


def guarded(transition: Transition) -> Transition:
    """End the process with what goes wrong in a transition: rclpy alone turns it into silence."""

    @functools.wraps(transition)
    def wrapper(node: Any, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            return transition(node, state)
        except Exception as error:
            if rclpy.ok():  # else asked to stop meanwhile
                node.get_logger().error(traceback.format_exc())
                node.failure = f'{transition.__name__} failed: {error}'
            raise

    return wrapper


class LinearizationNode(LifecycleNode):
    """Publishes the linearization of a robot about each of its joint states.

    The executor's thread does the work of each joint state. Two others never hold it up for
    long: one reads descriptions and prepares a `Pipeline`, one finds eigenvalues once a second.

    Attributes
    ----------
    failure
        Why the node cannot do its work at all, or None: the process ends with it.
    is_compiling
        Whether a thread is busy that cannot be stopped.
    """

    def __init__(self, **options: Any) -> None:
        # first: rclpy destroys a node of which a parameter could not be declared
        self._builder = ThreadPoolExecutor(1, thread_name_prefix='description')
        self._analyst = ThreadPoolExecutor(1, thread_name_prefix='eigenvalues')
        self.is_compiling = False
        super().__init__('linearization_node', **options)
        for parameter in TABLE:
            self.declare_parameter(parameter.name, parameter.default, _descriptor(parameter))
        self.failure: str | None = None
        self._values: dict[str, Any] = {}
        self._counts = Counts()
        self._pipeline: Pipeline | None = None
        self._description: str | Path | None = None
        self._model: tuple[tuple[Any, ...], TreeModel] | None = None
        self._warn = ThrottledLog(self.get_logger().warning)
        self._diagnostics = Diagnostics(self.get_fully_qualified_name(), self.get_name())
        self._is_active = False
        self._newest: JointState | None = None
        self._latest: Snapshot | None = None
        self._waiting_since = time.monotonic()
        self._inputs: list[Any] = []
        self._periodic: list[Any] = []
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._apply_parameters)

    # ---- lifecycle

    @guarded
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read parameters, compile, create publishers, and start to look for a description."""
        values = {parameter.name: self.get_parameter(parameter.name).value for parameter in TABLE}
        try:
            check_all(values)
        except ConfigurationError as error:
            return self._fail(str(error))
        self._values = values
        self._counts = Counts()
        start = time.monotonic()
        self._warm_up()
        self.get_logger().info(f'kernels are ready after {time.monotonic() - start:.2f} s')
        self._outputs = tuple(
            self.create_lifecycle_publisher(kind, topic, **overridable(NEWEST))
            for kind, topic in (
                (LinearizedDynamics, '~/linearization'),
                (ForwardDynamics, '~/forward_dynamics'),
                (LinearizationSummary, '~/summary'),
            )
        )
        self._diagnostics_publisher = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._periodic = [self.create_timer(1.0, self._on_second)]
        self._service = self.create_service(Linearize, '~/linearize', self._on_request)
        self._waiting_since = time.monotonic()
        self._description_input = None
        if values['robot_description'] or values['robot_description_file']:
            self._description = values['robot_description'] or Path(
                values['robot_description_file']
            )
            self._build()
            if self.failure is not None:
                return FAILURE
        else:
            self._description_input = self.create_subscription(
                String, 'robot_description', self._on_description, **overridable(LATCHED)
            )
        return SUCCESS

    @guarded
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Subscribe to the inputs and publish from now on."""
        for kind, topic, callback in (
            (JointState, 'joint_states', self._on_joint_state),
            (Odometry, 'odom', self._on_odometry),
            (JointState, 'joint_efforts', self._on_effort),
        ):
            self._inputs.append(
                self.create_subscription(kind, topic, callback, **overridable(SENSOR_DATA))
            )
        self._start_trigger()
        self._is_active = True
        return super().on_activate(state)

    @guarded
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop to listen and to publish; the model stays."""
        self._is_active = False
        for subscription in self._inputs:
            self.destroy_subscription(subscription)
        self._inputs.clear()
        self._stop_trigger()
        return super().on_deactivate(state)

    @guarded
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget everything but the parameters."""
        for timer in self._periodic:
            self.destroy_timer(timer)
        self._periodic.clear()
        if self._description_input is not None:
            self.destroy_subscription(self._description_input)
        self.destroy_service(self._service)
        self.destroy_publisher(self._diagnostics_publisher)
        for publisher in self._outputs:
            self.destroy_lifecycle_publisher(publisher)
        self._description = None
        self._builder.submit(lambda: None).result()  # what is being built is not wanted any more
        self._pipeline = self._latest = None
        return SUCCESS

    @guarded
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop for good, whatever the state was."""
        if self._is_active:
            self.on_deactivate(state)
        if self._periodic:
            self.on_cleanup(state)
        return SUCCESS

    def destroy_node(self) -> None:
        """Wait for the two threads, but not for a compilation, then go."""
        self._builder.shutdown(wait=not self.is_compiling, cancel_futures=True)
        self._analyst.shutdown(wait=True, cancel_futures=True)
        super().destroy_node()

    def autostart(self) -> None:
        """Configure and activate, if the parameter says so and nothing is wrong."""
        if self.get_parameter('autostart').value and self.trigger_configure() == SUCCESS:
            self.trigger_activate()

    def _warm_up(self) -> None:
        """Compile in another thread: a compilation cannot be stopped, but it can be left alone."""
        compilation = self._builder.submit(warm_up)
        self.is_compiling = True
        while not compilation.done():
            if not rclpy.ok():
                raise KeyboardInterrupt  # which rclpy lets pass
            concurrent.futures.wait([compilation], timeout=0.1)
        self.is_compiling = False
        compilation.result()

    # ---- description and parameters

    def _on_description(self, message: String) -> None:
        self._description = message.data
        self._builder.submit(self._build)

    def _build(self) -> None:
        """Make the pipeline of the present description and parameters, then swap it in.

        Runs beside the executor; until the swap the old pipeline serves. A description that
        cannot be read ends the process only where there is no old one.
        """
        values, description = dict(self._values), self._description
        if description is None:
            return
        try:
            key = (description, *(str(values[name]) for name in MODEL_NAMES))
            if self._model is None or self._model[0] != key:
                self._model = key, read_model(description, values, self.get_logger().warning)
            model = self._model[1]
            self._pipeline = make_pipeline(model, values, self._counts, self._pipeline)
        except Exception as error:
            if not isinstance(error, (GeolinError, OSError)):
                self.get_logger().error(traceback.format_exc())
            if self._pipeline is None:
                self._fail(f'cannot use the robot description: {error}')
            else:
                self.get_logger().error(
                    f'keep the model {self._pipeline.model.hash}, cannot use the new robot '
                    f'description: {error}'
                )
            return
        self.get_logger().info(f'serve {model.summary().splitlines()[0]}')

    def _check_parameters(self, parameters: list[Any]) -> SetParametersResult:
        try:
            check_all({parameter.name: parameter.value for parameter in parameters})
        except ConfigurationError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _apply_parameters(self, parameters: list[Any]) -> None:
        changed = {parameter.name: parameter.value for parameter in parameters}
        changed = {name: value for name, value in changed.items() if name in self._values}
        if not changed:
            return
        self._values |= changed
        if changed.get('robot_description'):
            self._description = changed['robot_description']
        elif changed.get('robot_description_file'):
            self._description = Path(changed['robot_description_file'])
        if self._description is not None:
            self._builder.submit(self._build)
        if self._is_active and changed.keys() & {'trigger', 'timer_rate'}:
            self._stop_trigger()
            self._start_trigger()

    # ---- inputs

    def _on_odometry(self, message: Odometry) -> None:
        pipeline = self._pipeline
        if pipeline is None:
            return
        try:
            pipeline.stream.on_odometry(message)
        except DroppedInput as drop:
            self._warn(drop.cause, str(drop))

    def _on_effort(self, message: JointState) -> None:
        if self._pipeline is None or self._values['torque_source'] != 'topic':
            return
        try:
            self._pipeline.stream.on_effort(message)
        except DroppedInput as drop:
            self._warn(drop.cause, str(drop))

    def _on_joint_state(self, message: JointState) -> None:
        if self._trigger is None:
            self._linearize(message)
            return
        if self._newest is not None:
            self._counts.received += 1
            self._counts.skipped += 1
        self._newest = message

    def _on_trigger(self) -> None:
        message, self._newest = self._newest, None
        if message is not None:
            self._linearize(message)

    def _linearize(self, message: JointState) -> None:
        """Answer one joint state: the path that is run at the rate of the robot."""
        start = time.perf_counter()
        pipeline = self._pipeline
        if pipeline is None:
            self._counts.received += 1
            self._counts.drops[Cause.NO_MODEL] += 1
            return
        try:
            answer = pipeline.stream.on_joint_state(message)
        except DroppedInput as drop:
            self._warn(drop.cause, str(drop))
            return
        if answer is not None:
            self._publish(pipeline, answer, start)

    def _publish(self, pipeline: Pipeline, answer: Answer, start: float) -> None:
        linearization, forward_dynamics, summary = self._outputs
        linearization.publish(pipeline.linearization.write(answer))
        latency = time.perf_counter() - start
        forward_dynamics.publish(pipeline.forward_dynamics.write(answer))
        summary.publish(pipeline.summary.write(answer, self._counts, latency))
        self._diagnostics.latencies.add(latency)
        self._diagnostics.ages.add(abs(answer.odometry_age))
        if self._latest is None:  # once a second, see _on_second
            self._latest = Snapshot(answer.stamp, answer.A.copy(), answer.state.copy())

    def _on_request(self, request: Any, response: Any) -> Any:
        if self._pipeline is None:
            response.success, response.message = False, f'waits for {self._waits_for()}'
            return response
        pipeline = self._pipeline
        return pipeline.requests.answer(
            request, response, self.get_clock().now().nanoseconds, pipeline.stream.world_frame
        )

    def _start_trigger(self) -> None:
        self._trigger = None
        if self._values['trigger'] == 'timer':
            self._trigger = self.create_timer(1.0 / self._values['timer_rate'], self._on_trigger)

    def _stop_trigger(self) -> None:
        if self._trigger is not None:
            self.destroy_timer(self._trigger)
        self._trigger = self._newest = None

    # ---- once a second

    def _on_second(self) -> None:
        pipeline = self._pipeline
        waits_for = None
        if pipeline is None:
            waits_for = self._waits_for()
        elif not self._is_active:
            waits_for = 'activation'
        waited = time.monotonic() - self._waiting_since
        if pipeline is None and waited > self._values['description_timeout']:
            self._waiting_since = time.monotonic()
            self.get_logger().error(f'after {waited:.0f} s still waits for {waits_for}')
        self._diagnostics_publisher.publish(
            self._diagnostics.report(
                self.get_clock().now(),
                None if pipeline is None else pipeline.stream,
                self._counts,
                waits_for,
            )
        )
        latest, self._latest = self._latest, None
        if latest is not None and pipeline is not None:
            self._analyst.submit(pipeline.analyse, latest)

    def _waits_for(self) -> str:
        topic = self.resolve_topic_name('robot_description')
        return (
            f'a robot description on topic {topic} (std_msgs/String, transient local), or in '
            'parameter robot_description or robot_description_file'
        )

    def _fail(self, message: str) -> TransitionCallbackReturn:
        self.failure = message
        return FAILURE


def _descriptor(parameter: Parameter) -> ParameterDescriptor:
    """Return what ``ros2 param describe`` shows."""
    text = f'{parameter.text} [{parameter.unit}]' if parameter.unit else parameter.text
    descriptor = ParameterDescriptor(
        description=text,
        read_only=not parameter.live,
        additional_constraints=', '.join(parameter.choices),
    )
    if parameter.bounds is not None:
        low, high = parameter.bounds
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return descriptor


def main(arguments: list[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; return the exit status."""
    failure, node = None, None
    with handled_signals() as asked_to_stop:
        try:
            rclpy.init(args=arguments)
            node = LinearizationNode()
            node.autostart()
            if not asked_to_stop():
                failure = spin(node, functools.partial(getattr, node, 'failure'))
        except KeyboardInterrupt:
            pass
        except Exception as error:
            if not asked_to_stop():
                if node is not None:
                    raise
                failure = str(error)  # a parameter file that cannot be used, for one
        finally:
            if node is not None:
                node.destroy_node()
            rclpy.try_shutdown()
    if node is not None and node.is_compiling:  # the interpreter would wait for the compiler
        node = None
        gc.collect()  # the middleware frees its shared memory with the last entity of the node
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    if failure is not None:
        sys.stderr.write(f'linearizer: {failure}\n')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
