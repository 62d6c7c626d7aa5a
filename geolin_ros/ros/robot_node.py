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
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter as RosParameter
from rclpy.qos import QoSProfile

from geolin_ros.errors import ConfigurationError, GeolinError, did_you_mean
from geolin_ros.model.tree import TreeModel
from geolin_ros.ros.description_source import SOURCE_NAMES, DescriptionSource
from geolin_ros.ros.diagnostics import Diagnostics
from geolin_ros.ros.executor import STEADY, init, spin
from geolin_ros.ros.qos import NEWEST, SENSOR_DATA, overridable
from geolin_ros.ros.serialized_input import VIEWS, InputReader
from geolin_ros.ros.signals import handled_signals
from geolin_ros.ros.statistics import ThrottledLog
from geolin_ros.stream.compiling import heard
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.parameters.linearizer import MODEL_NAMES
from geolin_ros.stream.parameters.model_reading import read_model
from geolin_ros.stream.parameters.table import Parameter, check_all
from geolin_ros.stream.topics import Counts

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


class Output(NamedTuple):
    """Type and topic of a publisher."""

    kind: Any
    topic: str
    qos: QoSProfile = NEWEST


class Reading(NamedTuple):
    """A model and what it was read from: both may have changed when it is asked for."""

    model: TreeModel
    description: str | Path
    values: dict[str, Any]
    """Of all parameters."""


@dataclass(eq=False)
class Pipeline:
    """All that belongs to one model: a stream and the writer of its messages."""

    stream: Any
    writer: Any

    @property
    def model(self) -> TreeModel:
        """The robot."""
        model: TreeModel = self.stream.model
        return model


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
        Its parameters; the rows of `geolin_ros.stream.parameters.linearizer` that describe the
        model, and 'autostart', have to be among them.

    Attributes
    ----------
    failure
        Why the node cannot do its work at all, or None: the process ends with it.
    is_compiling
        Whether a thread is busy that cannot be stopped.
    asked_to_stop
        Called to know whether to stop whatever takes long; as it is made, never.
    ABOUT
        What diagnostics call the answers, and what joint states are paired with.
    """

    ABOUT = 'estimates', 'IMU'

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
        about = self.get_fully_qualified_name(), self.get_name(), *self.ABOUT
        self._diagnostics = Diagnostics(*about)
        self.failure: str | None = None
        self._values: dict[str, Any] = {}
        self._build_waits = False
        self._revision = 0  # of the parameters
        self._served: tuple[str | Path, int] | None = None  # description and revision
        self._served_values: dict[str, Any] = {}
        self._refusal = ''  # why what is newest is not served
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
        self._warn_of_unknown_parameters()
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._apply_parameters)

    def _warn_of_unknown_parameters(self) -> None:
        """Say which of the parameters given, on the command line or in files, are none."""
        for name in sorted(self._parameter_overrides):
            if not self.has_parameter(name) and not name.startswith('qos_overrides.'):
                hint = did_you_mean(name, self._table) or '`geolin parameters` prints all. '
                self.get_logger().warning(
                    f'parameter {name} is unknown and ignored: {hint.strip()}'
                )

    # ---- what a node is

    def compile(self) -> None:
        """Compile, or load from the cache, all kernels; runs in a thread of its own."""
        raise NotImplementedError

    def outputs(self) -> Sequence[Output]:
        """Return what is published."""
        raise NotImplementedError

    def inputs(self) -> Sequence[Input]:
        """Return what is subscribed to while active."""
        raise NotImplementedError

    def make_stream(self, reading: Reading) -> Any:
        """Return what takes the inputs about one model, without a start; must not take long.

        Parameters are tried by it before they are set: it raises a `GeolinError` for those that
        do not fit the model.
        """
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
        """Return what /diagnostics reports each second."""
        stream = None if self._pipeline is None else self._pipeline.stream
        now = self.get_clock().now()
        return self._diagnostics.report(now, stream, self._counts, waits_for)

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
            self.create_lifecycle_publisher(output.kind, output.topic, **overridable(output.qos))
            for output in self.outputs()
        )
        self._diagnostics_publisher = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._periodic = [self.create_timer(1.0, self._on_second, clock=STEADY)]
        self._waiting_since = time.monotonic()
        self._source = DescriptionSource(self, values, self._on_description)
        if self._description is None:
            self.get_logger().info(f'waits for {self._source.waits_for}')
        if self._description is not None:  # a bad one ends the process at its start
            self._wait_for_the_builder()
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
        self._wait_for_the_builder()  # what is being built is not wanted any more
        self._pipeline = self._served = None
        self._refusal = ''
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
        # rclpy leaves it to the garbage collector, and with it the participant of the middleware
        self._state_machine.destroy_when_not_in_use()

    def autostart(self) -> None:
        """Configure and activate, if the parameter says so and nothing is wrong."""
        if self.get_parameter('autostart').value and self.trigger_configure() == SUCCESS:
            self.trigger_activate()

    def is_over(self) -> bool:
        """Whether the node was asked to stop, or cannot do its work."""
        return self.asked_to_stop() or self.failure is not None

    def _open_inputs(self) -> None:
        self._inputs = [self._open(given) for given in self.inputs()]

    def _open(self, given: Input) -> Any:
        is_raw = given.kind in VIEWS
        take = self._reading(given) if is_raw else given.take
        return self.create_subscription(
            given.kind, given.topic, take, raw=is_raw, **overridable(given.qos)
        )

    def _reading(self, given: Input) -> Callable[[bytes], None]:
        """Return a callback that reads the bytes of a message and hands it on."""
        reader = InputReader(given.kind)

        def take(data: bytes) -> None:
            try:
                message = reader.read(data)
            except RuntimeError as error:
                self._warn(
                    f'{given.topic} not readable',
                    f'{given.topic}: {len(data)} bytes are no {given.kind.__name__} ({error}); '
                    'correct its publisher',
                )
            else:
                given.take(message)

        return take

    def _close_inputs(self) -> None:
        for subscription in self._inputs:
            self.destroy_subscription(subscription)
        self._inputs.clear()

    @contextmanager
    def _compiling(self) -> Generator[None, None, None]:
        """Say once that kernels are compiled inside, if any are; the end does not wait for it."""
        compiled: list[str] = []

        def begins(kernel: str) -> None:
            if not compiled:
                self.get_logger().info(
                    'compiles kernels for this machine, once: up to some minutes '
                    '(`geolin warm-up` does it beforehand)'
                )
            compiled.append(kernel)

        self.is_compiling = True
        with heard(begins):
            try:
                yield
            finally:
                self.is_compiling = False

    def _compile(self) -> None:
        with self._compiling():
            self.compile()

    def _warm_up(self) -> None:
        self._wait_for_the_builder(self._compile)
        gc.collect()
        gc.freeze()  # no later collection goes through what is imported by now: it takes 0.1 s

    def _wait_for_the_builder(self, work: Callable[[], object] = lambda: None) -> None:
        """Have it work, after all that it has to do, until it is asked to stop.

        A compilation cannot be stopped, but it can be left alone.
        """
        end = self._builder.submit(work)
        while concurrent.futures.wait([end], timeout=0.1).not_done:
            if self.asked_to_stop():
                raise KeyboardInterrupt  # which rclpy lets pass
        end.result()

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
        is no old one; else that takes the parameters that have changed since. Those that it cannot
        take either are set back.
        """
        self._build_waits = False
        revision, values, description = self._revision, dict(self._values), self._description
        if description is None or self._served == (description, revision):
            return
        if self._serve(description, values, revision):
            self._refusal = ''
        elif self._served is not None:
            served, with_revision = self._served
            if with_revision == revision:
                return
            if served == description or not self._serve(served, values, revision):
                assert self.executor is not None  # it has set the parameters, in its thread
                self.executor.create_task(self._take_back)

    def _serve(self, description: str | Path, values: dict[str, Any], revision: int) -> bool:
        """Make a pipeline and swap it in; return whether that could be done."""
        what = 'the robot description'
        try:
            model = self._read(description, values)
            what = f'the parameters for robot {model.name!r}'
            reading = Reading(model, description, values)
            with self._compiling():  # what only this robot and its parameters take
                pipeline = self.make_pipeline(reading, self._pipeline)
            pipeline.stream.on_drop = self._on_drop
            self._pipeline = pipeline
            self._served, self._served_values = (description, revision), values
        except Exception as error:
            if not isinstance(error, (GeolinError, OSError)):
                self.get_logger().error(traceback.format_exc())
            if self._pipeline is None:
                self._fail(f'cannot use {what}: {error}')
            else:
                what = what.replace('the robot', 'the new robot')
                if self._served is not None and self._served[0] == description:
                    what = 'the new parameters'
                self._refusal = f'cannot use {what}: {error}'
                self.get_logger().error(
                    f'keep the model {self._pipeline.model.hash}, {self._refusal}'
                )
            return False
        self.get_logger().info(f'serve {model.summary().splitlines()[0]}')
        return True

    def _read(self, description: str | Path, values: dict[str, Any]) -> TreeModel:
        """Return the model, read anew if it is not the one that was read last."""
        key = (description, *(str(values[name]) for name in MODEL_NAMES))
        last = self._model  # another thread may change it
        if last is None or last[0] != key:
            last = key, read_model(description, values, self.get_logger().warning)
            self._model = last
        return last[1]

    def _check_parameters(self, parameters: list[Any]) -> SetParametersResult:
        try:
            values = {parameter.name: parameter.value for parameter in parameters}
            check_all(values, self._table)
            self.check(values)
            self._check_on_robots(values)
        except GeolinError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _check_on_robots(self, changed: dict[str, Any]) -> None:
        """Raise `GeolinError` for parameters that no robot here could be served with.

        That is the newest, which perhaps only waits for them, and the one that is served. Without
        either, the one that parameters tell of, unless it cannot be used as they are now.
        """
        present = {name: self.get_parameter(name).value for name in self._table}
        changed = {name: value for name, value in changed.items() if name in self._table}
        if not changed:
            return
        values = present | changed
        if changed.get('robot_description'):
            known = [changed['robot_description']]
        elif self._served is not None:
            known = list(dict.fromkeys((self._description or self._served[0], self._served[0])))
        else:
            known = [given] if (given := self._description or _given(present)) else []
        problems = [self._problem(description, values) for description in known]
        if not all(problems):
            return
        if self._served is None and not changed.get('robot_description'):
            problems = [p for p in problems if not self._problem(known[0], present)]
        if problems:
            raise ConfigurationError(problems[-1])

    def _problem(self, description: str | Path, values: dict[str, Any]) -> str:
        """Return why a robot cannot be served with these parameters, empty if it can."""
        try:
            self.make_stream(Reading(self._read(description, values), description, values))
        except (GeolinError, OSError) as error:
            return str(error)
        except Exception as error:  # else it would end the process
            return f'{type(error).__name__}: {error}'
        return ''

    def _take_back(self) -> None:
        """Set parameters back that could not be applied, unless others have been set since."""
        served = self._served_values
        back = [name for name, value in self._values.items() if str(value) != str(served[name])]
        if self._build_waits or not back:
            return
        self.get_logger().error(f'set back {", ".join(back)}: {self._refusal}')
        types = {name: self.get_parameter(name).type_ for name in back}
        self.set_parameters([RosParameter(name, types[name], served[name]) for name in back])

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

    def take(self, topic: str, message: Any) -> None:
        """Hand a message to the stream: the path that is run at the rate of the robot.

        What the pipeline's ``stream`` answers is published.
        """
        start = time.perf_counter()
        pipeline = self._pipeline
        if pipeline is None:
            if topic == 'joint_states':
                self._counts.received += 1
                self._counts.drops[Cause.NO_MODEL] += 1
            return
        for answer in pipeline.stream.take(topic, message):
            self.publish(pipeline, answer, start)

    def _on_drop(self, drop: DroppedInput) -> None:
        """Say why an input cannot be used."""
        self._warn(drop.cause, str(drop))

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
        self._warn_of_other_types()
        report = self.report(waits_for)
        report.status[0].values += self._connections()
        report.status[0].values.append(KeyValue(key='pending', value=self._pending() or 'nothing'))
        if self._refusal and report.status[0].level == DiagnosticStatus.OK:
            report.status[0].level, report.status[0].message = DiagnosticStatus.WARN, self._refusal
        self._diagnostics_publisher.publish(report)

    def _warn_of_other_types(self) -> None:
        """Say which inputs somebody publishes as another type: DDS never connects the two."""
        for subscription in self._inputs:
            topic, kind = subscription.topic_name, subscription.msg_type
            expected = f'{kind.__module__.partition(".")[0]}/msg/{kind.__name__}'
            for other in self.get_publishers_info_by_topic(topic):
                if other.topic_type == expected:
                    continue
                parameter = ', or set parameter base_source' if kind is Odometry else ''
                self._warn(
                    topic,
                    f'topic {topic} is published as {other.topic_type} by node '
                    f'{other.node_name}, expected {expected}: nothing of it is heard; correct the '
                    f'publisher, or remap (-r {topic}:=OTHER){parameter}',
                )

    def _connections(self) -> list[KeyValue]:
        """Return how many others each input and output is connected with."""
        counts = {f'publishers of {s.topic_name}': s.get_publisher_count() for s in self._inputs}
        for publisher in self._outputs:
            name = f'subscribers of {publisher.topic_name}'
            counts[name] = publisher.get_subscription_count()
        return [KeyValue(key=name, value=str(count)) for name, count in counts.items()]

    def _pending(self) -> str:
        """Return what is known and not served yet, or cannot be; empty if there is none."""
        newest = self._description, self._revision
        if self._refusal or self._description is None or self._served == newest:
            return self._refusal
        is_new = self._served is None or self._served[0] != self._description
        return 'a new robot description' if is_new else 'new parameters'

    def waits_for(self) -> str:
        """Return what a node without a description waits for."""
        return self._source.waits_for if self._source is not None else 'its configuration'

    def _fail(self, message: str) -> TransitionCallbackReturn:
        self.failure = message
        return FAILURE


def _given(values: Mapping[str, Any]) -> str | Path | None:
    """Return the robot description that parameters tell of."""
    if values['robot_description']:
        return str(values['robot_description'])
    path = values['robot_description_file']
    return Path(path) if path else None


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
    """Run a node until SIGINT, SIGTERM or SIGHUP; return the exit status of ``program``.

    Ignores them afterwards: what is left to the process is to end.
    """
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
            else:
                gc.collect()  # what was made of a node before a signal came
            rclpy.try_shutdown()
            rclpy.get_default_context().destroy()
    if failure is not None:
        sys.stderr.write(f'{program}: {failure}\n')
        return 1
    return 0
