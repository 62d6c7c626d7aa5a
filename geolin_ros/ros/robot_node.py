# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What every node of this package is: a lifecycle node that follows a robot description."""

import concurrent.futures
import functools
import gc
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import QoSProfile

from geolin_ros.errors import ConfigurationError, GeolinError
from geolin_ros.model.tree import TreeModel
from geolin_ros.ros.description_source import SOURCE_NAMES, DescriptionSource
from geolin_ros.ros.executor import STEADY, handled_signals, init, spin
from geolin_ros.ros.qos import NEWEST, SENSOR_DATA, overridable
from geolin_ros.ros.statistics import ThrottledLog
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.linearization_stream import Counts
from geolin_ros.stream.model_reading import read_model
from geolin_ros.stream.parameter_table import Parameter, check_all
from geolin_ros.stream.parameters import MODEL_NAMES

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
Transition = Callable[[Any, LifecycleState], TransitionCallbackReturn]


def guarded(transition: Transition) -> Transition:
    """End the process with what goes wrong in a transition: rclpy alone turns it into silence."""

    @functools.wraps(transition)
    def wrapper(node: Any, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            return transition(node, state)
        except Exception as error:
            if not node.asked_to_stop() and node.failure is None:  # else it is no surprise
                node.get_logger().error(traceback.format_exc())
                node.failure = f'{transition.__name__} failed: {error}'
            raise

    return wrapper


class Input(NamedTuple):
    """Type, topic and callback of a subscription."""

    kind: Any
    topic: str
    take: Callable[[Any], None]
    qos: QoSProfile = SENSOR_DATA


class Reading(NamedTuple):
    """A model and what it was read from: both may have changed when it is asked for."""

    model: TreeModel
    description: str | Path
    values: dict[str, Any]
    """Of all parameters."""


class RobotNode(LifecycleNode):
    """Reads a robot description, prepares a pipeline for it, and feeds it while active.

    The executor's thread does the work of each input. Another one reads descriptions and prepares
    pipelines; until the swap the old pipeline serves. A node says what it is by the six methods
    that raise NotImplementedError here.

    Parameters
    ----------
    name
        Name of the node.
    table
        Its parameters; the rows of `geolin_ros.stream.parameters` that describe the model, and
        'autostart', have to be among them.

    Attributes
    ----------
    failure
        Why the node cannot do its work at all, or None: the process ends with it.
    is_compiling
        Whether a thread is busy that cannot be stopped.
    asked_to_stop
        Called to know whether to stop whatever takes long; as it is made, never.
    """

    def __init__(self, name: str, table: Sequence[Parameter], **options: Any) -> None:
        # first: rclpy destroys a node of which a parameter could not be declared
        self._builder = ThreadPoolExecutor(1, thread_name_prefix='description')
        self._pipeline: Any = None
        self.is_compiling = False
        self.asked_to_stop: Callable[[], bool] = lambda: False
        super().__init__(name, **options)
        self._table = {parameter.name: parameter for parameter in table}
        for parameter in table:
            self.declare_parameter(parameter.name, parameter.default, _descriptor(parameter))
        self.failure: str | None = None
        self._values: dict[str, Any] = {}
        self._build_waits = False
        self._revision = 0  # of the parameters
        self._served: tuple[str | Path, int] | None = None  # description and revision
        self._counts = Counts()
        self._description: str | Path | None = None
        self._model: tuple[tuple[Any, ...], TreeModel] | None = None
        self._warn = ThrottledLog(self.get_logger().warning)
        self._source: DescriptionSource | None = None
        self._is_active = False
        self._waiting_since = time.monotonic()
        self._inputs: list[Any] = []
        self._outputs: tuple[Any, ...] = ()
        self._periodic: list[Any] = []
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._apply_parameters)

    # ---- what a node is

    def compile(self) -> None:
        """Compile, or load from the cache, all kernels; runs in a thread of its own."""
        raise NotImplementedError

    def outputs(self) -> Sequence[tuple[type, str]]:
        """Return type and topic of what is published."""
        raise NotImplementedError

    def inputs(self) -> Sequence[Input]:
        """Return what is subscribed to while active."""
        raise NotImplementedError

    def make_pipeline(self, reading: Reading, earlier: Any) -> Any:
        """Return all that belongs to one model, ready to run; may take a while.

        ``earlier`` is the pipeline that will be replaced, or None.
        """
        raise NotImplementedError

    def publish(self, pipeline: Any, answer: Any, start: float) -> None:
        """Publish an answer of the pipeline's stream; its input came at ``start``.

        That is a time of `time.perf_counter` [s].
        """
        raise NotImplementedError

    def report(self, waits_for: str | None) -> DiagnosticArray:
        """Return what is said once a second on /diagnostics."""
        raise NotImplementedError

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise `ConfigurationError` for parameter values that do not do here."""

    def on_changed(self, names: set[str]) -> None:
        """React to changed parameters, before there is a new pipeline."""

    # ---- lifecycle

    @guarded
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read parameters, compile, create publishers, and start to look for a description."""
        values = {name: self.get_parameter(name).value for name in self._table}
        try:
            check_all(values, self._table)
            self.check(values)
        except ConfigurationError as error:
            return self._fail(str(error))
        self._values, self._counts = values, Counts()
        start = time.monotonic()
        self._warm_up()
        self.get_logger().info(f'kernels are ready after {time.monotonic() - start:.2f} s')
        self._outputs = tuple(
            self.create_lifecycle_publisher(kind, topic, **overridable(NEWEST))
            for kind, topic in self.outputs()
        )
        self._diagnostics_publisher = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._periodic = [self.create_timer(1.0, self._on_second, clock=STEADY)]
        self._waiting_since = time.monotonic()
        self._source = DescriptionSource(self, values, self._on_description)
        if self._description is not None:  # a bad one ends the process at its start
            self._builder.submit(lambda: None).result()
            if self.failure is not None:
                return FAILURE
        return SUCCESS

    @guarded
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Subscribe to the inputs and publish from now on."""
        self._open_inputs()
        self._is_active = True
        return super().on_activate(state)

    @guarded
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop to listen and to publish; the model stays."""
        self._is_active = False
        self._close_inputs()
        return super().on_deactivate(state)

    @guarded
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget everything but the parameters."""
        for timer in self._periodic:
            self.destroy_timer(timer)
        self._periodic.clear()
        if self._source is not None:
            self._source.close()
        self.destroy_publisher(self._diagnostics_publisher)
        for publisher in self._outputs:
            self.destroy_lifecycle_publisher(publisher)
        self._description = None
        self._builder.submit(lambda: None).result()  # what is being built is not wanted any more
        self._pipeline = self._served = None
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
        """Wait for the builder, but not for a compilation, then go."""
        self._builder.shutdown(wait=not self.is_compiling, cancel_futures=True)
        super().destroy_node()

    def autostart(self) -> None:
        """Configure and activate, if the parameter says so and nothing is wrong."""
        if self.get_parameter('autostart').value and self.trigger_configure() == SUCCESS:
            self.trigger_activate()

    def is_over(self) -> bool:
        """Whether the node was asked to stop, or cannot do its work."""
        return self.asked_to_stop() or self.failure is not None

    def _open_inputs(self) -> None:
        self._inputs = [
            self.create_subscription(given.kind, given.topic, given.take, **overridable(given.qos))
            for given in self.inputs()
        ]

    def _close_inputs(self) -> None:
        for subscription in self._inputs:
            self.destroy_subscription(subscription)
        self._inputs.clear()

    def _warm_up(self) -> None:
        """Compile in another thread: a compilation cannot be stopped, but it can be left alone."""
        compilation = self._builder.submit(self.compile)
        self.is_compiling = True
        while not compilation.done():
            if self.asked_to_stop():
                raise KeyboardInterrupt  # which rclpy lets pass
            concurrent.futures.wait([compilation], timeout=0.1)
        self.is_compiling = False
        compilation.result()
        gc.collect()
        gc.freeze()  # no later collection goes through what is imported by now: it takes 0.1 s

    # ---- description and parameters

    def _on_description(self, description: str | Path) -> None:
        self._description = description
        self._rebuild()

    def _rebuild(self) -> None:
        """Build soon; one that waits will see the newest description and parameters anyway."""
        if not self._build_waits:
            self._build_waits = True
            self._builder.submit(self._build)

    def _build(self) -> None:
        """Make the pipeline of the present description and parameters, then swap it in.

        Runs beside the executor; until the swap the old pipeline serves. A description that is
        served already changes nothing. One that cannot be used ends the process only where there
        is no old one; else that takes the parameters that have changed since.
        """
        self._build_waits = False
        revision, values, description = self._revision, dict(self._values), self._description
        if description is None or self._served == (description, revision):
            return
        if not self._serve(description, values, revision) and self._served is not None:
            served, with_revision = self._served
            if served != description and with_revision != revision:
                self._serve(served, values, revision)

    def _serve(self, description: str | Path, values: dict[str, Any], revision: int) -> bool:
        """Make a pipeline and swap it in; return whether that could be done."""
        try:
            key = (description, *(str(values[name]) for name in MODEL_NAMES))
            if self._model is None or self._model[0] != key:
                self._model = key, read_model(description, values, self.get_logger().warning)
            model = self._model[1]
            reading = Reading(model, description, values)
            self._pipeline = self.make_pipeline(reading, self._pipeline)
            self._served = description, revision
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
            return False
        self.get_logger().info(f'serve {model.summary().splitlines()[0]}')
        return True

    def _check_parameters(self, parameters: list[Any]) -> SetParametersResult:
        try:
            values = {parameter.name: parameter.value for parameter in parameters}
            check_all(values, self._table)
            self.check(values)
        except ConfigurationError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _apply_parameters(self, parameters: list[Any]) -> None:
        changed = {parameter.name: parameter.value for parameter in parameters}
        changed = {name: value for name, value in changed.items() if name in self._values}
        if not changed:
            return
        self._values |= changed
        self._revision += 1
        self.on_changed(set(changed))
        source = {name: changed.get(name, '') for name in SOURCE_NAMES}
        if self._source is not None and any(source.values()):
            self._source.close()
            self._source = DescriptionSource(self, source, self._on_description)
        elif self._description is not None:
            self._rebuild()

    # ---- inputs

    def take(self, method: str, *message: Any) -> None:
        """Hand a message to the stream: the path that is run at the rate of the robot.

        ``method`` of the pipeline's ``stream`` takes it and returns an answer to publish, or
        None; a `DroppedInput` is counted by the stream and said here.
        """
        start = time.perf_counter()
        pipeline = self._pipeline
        if pipeline is None:
            if method == 'on_joint_state':
                self._counts.received += 1
                self._counts.drops[Cause.NO_MODEL] += 1
            return
        try:
            answer = getattr(pipeline.stream, method)(*message)
        except DroppedInput as drop:
            self._warn(drop.cause, str(drop))
            return
        if answer is not None:
            self.publish(pipeline, answer, start)

    # ---- once a second

    def _on_second(self) -> None:
        waits_for = None
        if self._pipeline is None:
            waits_for = self.waits_for()
        elif not self._is_active:
            waits_for = 'activation'
        waited = time.monotonic() - self._waiting_since
        if self._pipeline is None and waited > self._values['description_timeout']:
            self._waiting_since = time.monotonic()
            self.get_logger().error(f'after {waited:.0f} s still waits for {waits_for}')
        self._diagnostics_publisher.publish(self.report(waits_for))

    def waits_for(self) -> str:
        """Return what a node without a description waits for."""
        return self._source.waits_for if self._source is not None else 'its configuration'

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
    if parameter.bounds is not None and isinstance(parameter.default, int):
        first, last = map(int, parameter.bounds)
        descriptor.integer_range = [IntegerRange(from_value=first, to_value=last, step=1)]
    elif parameter.bounds is not None:
        low, high = parameter.bounds
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return descriptor


def security_hint() -> str:
    """Return what to look at where a start failed and ROS 2 security is on, else nothing."""
    if os.environ.get('ROS_SECURITY_ENABLE') != 'true':
        return ''
    keystore = os.environ.get('ROS_SECURITY_KEYSTORE') or 'none, expected a folder'
    return (
        '; security is on (ROS_SECURITY_ENABLE=true, ROS_SECURITY_STRATEGY='
        f'{os.environ.get("ROS_SECURITY_STRATEGY", "Permissive")}, ROS_SECURITY_KEYSTORE: '
        f'{keystore}), and nothing is published without it: make keys and permissions as '
        'docs/security.md says'
    )


def run(
    make_node: Callable[[], RobotNode], program: str, arguments: list[str] | None = None
) -> int:
    """Run a node until SIGINT or SIGTERM; return the exit status of ``program``."""
    failure, node = None, None
    with handled_signals() as asked_to_stop:
        try:
            init(arguments)
            node = make_node()
            node.asked_to_stop = asked_to_stop
            node.autostart()
            if not asked_to_stop():
                spin(node, node.is_over)
                failure = node.failure
        except KeyboardInterrupt:
            pass
        except Exception as error:
            if not asked_to_stop():
                if node is not None:
                    raise
                failure = f'{error}{security_hint()}'  # a parameter file, for one
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
        sys.stderr.write(f'{program}: {failure}\n')
        return 1
    return 0
