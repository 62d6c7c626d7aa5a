# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What every node of this package is: a lifecycle node that follows a robot description."""

import concurrent.futures
import functools
import gc
import time
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from lifecycle_msgs import msg
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
from rclpy.task import Future

from geolin_ros.errors import ConfigurationError, GeolinError, did_you_mean
from geolin_ros.model.tree import TreeModel
from geolin_ros.ros.configuration import SOURCE_NAMES, DescriptionSource, ParameterServices
from geolin_ros.ros.diagnostics import Diagnostics, ThrottledLog
from geolin_ros.ros.model_server import ModelServer, State, Wanted
from geolin_ros.ros.running import STEADY, result_of
from geolin_ros.ros.topics import NEWEST, SENSOR_DATA, input_reader, name_of, overridable
from geolin_ros.stream.compiling import announced
from geolin_ros.stream.inputs.serialized import VIEWS
from geolin_ros.stream.parameters.linearizer import MODEL_NAMES, check_payload
from geolin_ros.stream.parameters.model_reading import read_model
from geolin_ros.stream.parameters.table import Parameter, check_all
from geolin_ros.stream.topic_stream import Cause, Counts

SUCCESS = TransitionCallbackReturn.SUCCESS
Transition = Callable[[LifecycleState], TransitionCallbackReturn]
NAMES_OF_TRANSITIONS = {
    msg.Transition.TRANSITION_CONFIGURE: 'configure',
    msg.Transition.TRANSITION_ACTIVATE: 'activate',
}


class Input(NamedTuple):
    """Type, topic and callback of a subscription; by default the stream takes its messages."""

    kind: Any
    topic: str
    take: Callable[[Any], None] | None = None
    qos: QoSProfile = SENSOR_DATA


class Output(NamedTuple):
    """Type and topic of a publisher."""

    kind: Any
    topic: str
    qos: QoSProfile = NEWEST


class Reading(NamedTuple):
    """A model, and description and parameter values as it was read from them."""

    model: TreeModel
    description: str | Path
    values: Mapping[str, Any]


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

    The executor's thread does the work of each input, and nothing that may compile: a
    `ModelServer` reads descriptions and prepares pipelines in a thread of its own, and one more
    tries parameters. A node says what it is by `compile` and methods that raise
    NotImplementedError.

    The rows of ``table`` are its parameters: those of `geolin_ros.stream.parameters.linearizer`
    that describe the model, and 'autostart', have to be among them. ``failure`` says why the node
    cannot do its work at all, or is None: the process ends with it.
    """

    ABOUT = 'estimates', 'IMU'
    """What diagnostics call the answers, and what joint states are paired with."""
    compile: Callable[[], object]
    """Compiles, or loads from the cache, all kernels; called in a thread of its own."""

    def __init__(self, name: str, table: Sequence[Parameter], **options: Any) -> None:
        # first: rclpy destroys a node of which a parameter could not be declared
        self._workers: list[ThreadPoolExecutor] = []
        self._trier, builder = self.worker('parameters'), self.worker('builder')
        on = self._on_built, self._on_refused, self._take_back
        self._server = ModelServer(builder, self._build, self._post, *on)
        self.is_compiling = False  # a thread is busy that cannot be stopped
        self.asked_to_stop: Callable[[], bool] = lambda: False  # see `run`
        super().__init__(name, start_parameter_services=False, **options)
        self._callbacks = {at: self._guarded(step) for at, step in self._callbacks.items()}
        self._table = {parameter.name: parameter for parameter in table}
        for parameter in table:
            self.declare_parameter(parameter.name, parameter.default, _descriptor(parameter))
        self._diagnostics = Diagnostics(
            self.get_fully_qualified_name(), self.get_name(), *self.ABOUT
        )
        self.failure: str | None = None
        self._values: dict[str, Any] = {}
        self._counts = Counts()
        self._description: str | Path | None = None
        self._model: tuple[tuple[Any, ...], TreeModel] | None = None
        self._warn = ThrottledLog(self.get_logger().warning)
        self._source: DescriptionSource | None = None
        self._is_active = False
        self._news: Future[None] | None = None
        self._waiting_since = time.monotonic()
        self._inputs: list[Any] = []
        self._outputs: tuple[Any, ...] = ()
        self._periodic: list[Any] = []
        for unknown in sorted(self._parameter_overrides):
            if not self.has_parameter(unknown) and not unknown.startswith('qos_overrides.'):
                hint = did_you_mean(unknown, self._table) or '`geolin parameters` prints all'
                self.get_logger().warning(
                    f'parameter {unknown} is unknown and ignored: {hint.strip()}'
                )
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._apply_parameters)
        self._parameter_service = ParameterServices(self)
        self._transitions = self._service_change_state.callback
        self._service_change_state.callback = self._change_state
        self._compiled = builder.submit(self._compile)
        self._compiled.add_done_callback(lambda _: self._post(self._notify))

    @property
    def _pipeline(self) -> Any:
        """What answers now, or None."""
        return self._server.pipeline

    # ---- what a node is

    def outputs(self) -> Sequence[Output]:
        """Return what is published."""
        raise NotImplementedError

    def inputs(self) -> Sequence[Input]:
        """Return what is subscribed to while active."""
        raise NotImplementedError

    def make_stream(self, reading: Reading) -> Any:
        """Return what takes the inputs about one model, not started yet; must not take long.

        Parameters are tried by it: it raises a `GeolinError` for those that do not fit the model.
        """
        raise NotImplementedError

    def make_pipeline(self, reading: Reading) -> Any:
        """Return all that belongs to one model, compiled; runs for minutes, in its own thread."""
        raise NotImplementedError

    def adopt(self, pipeline: Any, earlier: Any) -> None:
        """Let a pipeline go on from the ``earlier`` one, or None, just before it serves."""

    def publish(self, pipeline: Any, answer: Any, start: float) -> None:
        """Publish an answer of the stream; ``start`` is when the input came, by perf_counter."""
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

    def _guarded(self, transition: Transition) -> Transition:
        """End the process with what goes wrong in a transition: rclpy turns it into silence."""

        def step(state: LifecycleState) -> TransitionCallbackReturn:
            try:
                return transition(state)
            except Exception as error:
                if not self.asked_to_stop() and self.failure is None:  # else it is no surprise
                    self.get_logger().error(traceback.format_exc())
                    self.failure = f'{transition.__name__} failed: {error}'
                raise

        return step

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read parameters, compile, create publishers, and start to look for a description."""
        values = {name: self.get_parameter(name).value for name in self._table}
        try:
            check_all(values, self._table)
            if not self._values:  # else it may have been put down since
                check_payload(values, values)
            self.check(values)
        except ConfigurationError as error:
            self.failure = str(error)
            return TransitionCallbackReturn.FAILURE
        self._values, self._counts = values, Counts()
        # for those who configure a node themselves; a compilation can be left alone
        while concurrent.futures.wait([self._compiled], timeout=0.1).not_done:
            if self.asked_to_stop():
                raise KeyboardInterrupt  # which rclpy lets pass
        self._compiled.result()
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
        return SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Subscribe to the inputs and publish from now on."""
        self._open_inputs()
        self._is_active = True
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop to listen and to publish; the model stays."""
        self._is_active = False
        self._close_inputs()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget everything but the parameters."""
        for timer in self._periodic:
            self.destroy_timer(timer)
        self._periodic.clear()
        if self._source is not None:
            self._source.close()
        self._source = None
        self.destroy_publisher(self._diagnostics_publisher)
        for publisher in self._outputs:
            self.destroy_lifecycle_publisher(publisher)
        self._description = None
        self._server.forget()
        self._notify()
        return SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop for good, whatever the state was."""
        if self._is_active:
            self.on_deactivate(state)
        if self._periodic:
            self.on_cleanup(state)
        return SUCCESS

    def destroy_node(self) -> None:
        """Wait for builder and workers, but not for a compilation, then go."""
        for worker in self._workers:
            worker.shutdown(wait=not self.is_compiling, cancel_futures=True)
        super().destroy_node()
        # rclpy leaves it to the garbage collector, and with it the participant of the middleware
        self._state_machine.destroy_when_not_in_use()

    async def autostart(self) -> None:
        """Configure and activate, if the parameter says so and nothing is wrong."""
        if not self.get_parameter('autostart').value:
            return
        await self.until_settled()
        if not self.is_over() and self.trigger_configure() == SUCCESS:
            await self.until_ready()
            if self._source is not None and not self.is_over():  # else it was cleaned up
                self.trigger_activate()

    async def until_settled(self) -> None:
        """Wait, and leave the executor to others, while kernels or a robot are being built."""
        while not self._compiled.done() or self._server.state is State.BUILDING:
            await self.next_news()

    async def until_ready(self) -> None:
        """Wait until the node may become active."""
        await self.until_settled()

    def worker(self, name: str) -> ThreadPoolExecutor:
        """Return a thread that ends with the node."""
        self._workers.append(ThreadPoolExecutor(1, thread_name_prefix=name))
        return self._workers[-1]

    async def aside(
        self, thread: ThreadPoolExecutor, work: Callable[..., Any], *about: Any
    ) -> Any:
        """Return what a call in another thread returns; the executor goes on meanwhile."""
        return await result_of(thread.submit(work, *about), self)

    async def next_news(self) -> None:
        """Wait until kernels are compiled, or a robot is served or refused."""
        if self._news is None:
            self._news = Future(executor=self.executor)
        await result_of(self._news, self)

    def _notify(self) -> None:
        news, self._news = self._news, None
        if news is not None:
            news.set_result(None)

    def _post(self, job: Callable[[], object]) -> None:
        """Have the executor's thread call a function soon; from any thread."""

        def guarded_job() -> None:
            try:
                job()
            except Exception as error:
                self.get_logger().error(traceback.format_exc())
                self.failure = f'{type(error).__name__}: {error}'

        if self.executor is not None:  # else nobody waits for it yet
            self.executor.create_task(guarded_job)

    async def _change_state(self, request: Any, response: Any) -> Any:
        """Change the lifecycle state; what takes up work waits for what is being compiled."""
        label = request.transition.label or NAMES_OF_TRANSITIONS.get(request.transition.id)
        if label == 'configure':
            await self.until_settled()
        elif label == 'activate':
            await self.until_ready()
        response = self._transitions(request, response)
        if label == 'configure':
            await self.until_settled()
        return response

    def is_over(self) -> bool:
        """Whether the node was asked to stop, or cannot do its work."""
        return self.asked_to_stop() or self.failure is not None

    def _open_inputs(self) -> None:
        self._inputs = [self._open(given) for given in self.inputs()]

    def _open(self, given: Input) -> Any:
        take = given.take or functools.partial(self.take, given.topic)
        is_raw = name_of(given.kind) in VIEWS
        if is_raw:
            take = self._reading(given, take)
        return self.create_subscription(
            given.kind, given.topic, take, raw=is_raw, **overridable(given.qos)
        )

    def _reading(self, given: Input, take: Callable[[Any], None]) -> Callable[[bytes], None]:
        """Return a callback that reads the bytes of a message and hands it on."""
        reader = input_reader(given.kind)

        def read(data: bytes) -> None:
            try:
                message = reader.read(data)
            except RuntimeError as error:
                self._warn(
                    f'{given.topic} not readable',
                    f'{given.topic}: {len(data)} bytes are no {given.kind.__name__} ({error}); '
                    'correct its publisher',
                )
            else:
                take(message)

        return read

    def _close_inputs(self) -> None:
        for subscription in self._inputs:
            self.destroy_subscription(subscription)
        self._inputs.clear()

    @contextmanager
    def _compiling(self) -> Generator[list[str], None, None]:
        """Say once that kernels are compiled inside, if any are; yield the list of their names."""
        compiled: list[str] = []

        def begins(kernel: str) -> None:
            if not compiled:
                self.get_logger().info(
                    'compiles kernels for this machine, once: up to some minutes '
                    '(`geolin warm-up` does it beforehand)'
                )
            compiled.append(kernel)

        self.is_compiling = True
        with announced(begins):
            try:
                yield compiled
            finally:
                self.is_compiling = False

    def _compile(self) -> None:
        """Compile what every robot takes: the first that the builder's thread does."""
        start = time.monotonic()
        with self._compiling():
            self.compile()
        self.get_logger().info(f'kernels are ready after {time.monotonic() - start:.2f} s')
        gc.collect()
        gc.freeze()  # no later collection goes through what is imported by now: it takes 0.1 s

    # ---- description and parameters

    def _on_description(self, description: str | Path) -> None:
        self._description = description
        self._server.want(description, self._values)

    def _build(self, wanted: Wanted) -> Any:
        """Return the pipeline of a robot; runs in the builder's thread.

        Raises `RuntimeError` about what cannot be used; its cause says why. No garbage is
        collected meanwhile: a compiler leaves so much that this would hold up the executor's
        thread for tenths of a second. What it leaves stays.
        """
        what = 'the robot description'
        gc.disable()
        try:
            model = self._read(*wanted)
            what = f'the parameters for robot {model.name!r}'
            with self._compiling() as compiled:  # what only this robot and its parameters take
                pipeline = self.make_pipeline(Reading(model, *wanted))
            if compiled:
                gc.freeze()
        except Exception as error:
            raise RuntimeError(what) from error
        finally:
            gc.enable()
        pipeline.stream.on_drop = lambda drop: self._warn(drop.cause, str(drop))
        return pipeline

    def _on_built(self, earlier: Any, pipeline: Any) -> None:
        self.adopt(pipeline, earlier)
        self.get_logger().info(f'serve {pipeline.model.summary().splitlines()[0]}')
        self._notify()

    def _on_refused(self, wanted: Wanted, failed: Exception, is_another: bool) -> str:
        """Return why a robot is not served; the process ends with it if there is no other."""
        what, error, served = str(failed), failed.__cause__, self._server.served
        if not isinstance(error, (GeolinError, OSError)):
            self.get_logger().error(''.join(traceback.format_exception(failed)))
        if served is not None:
            is_new = served.description != wanted.description
            what = what.replace('the robot', 'the new robot') if is_new else 'the new parameters'
        reason = f'cannot use {what}: {error}'
        if served is not None:
            self.get_logger().error(f'keep the model {self._pipeline.model.hash}, {reason}')
        elif is_another:
            self.get_logger().error(reason)
        else:
            self.failure = reason
        self._notify()
        return reason

    def _read(self, description: str | Path, values: Mapping[str, Any]) -> TreeModel:
        """Return the model, read anew if it is not the one that was read last."""
        key = (description, *(str(values[name]) for name in MODEL_NAMES))
        last = self._model  # another thread may change it
        if last is None or last[0] != key:
            last = key, read_model(description, values, self.get_logger().warning)
            self._model = last
        return last[1]

    async def objection(self, parameters: Sequence[Any]) -> str:
        """Return why no robot could be served with parameters, tried in another thread, or ''.

        The robots are the newest, which perhaps only waits for them, and the one that is served;
        without either, the one that parameters tell of.
        """
        changed = {parameter.name: parameter.value for parameter in parameters}
        try:
            values = self._checked(changed)
        except Exception:  # of another type, for one: whoever sets them says so
            return ''
        served, file = self._server.served, values['robot_description_file']
        newest = self._description or values['robot_description'] or (file and Path(file))
        robots = [newest, served.description if served else '']
        if changed.get('robot_description'):
            robots = [changed['robot_description']]
        elif changed.keys().isdisjoint(self._table):
            robots = []
        wanted = [Wanted(robot, values) for robot in dict.fromkeys(robots) if robot]
        reason = str(await self.aside(self._trier, self._try, wanted))
        if reason and served is None and changed.keys().isdisjoint(SOURCE_NAMES):
            now = {name: self.get_parameter(name).value for name in values}
            as_they_are = [Wanted(robot.description, now) for robot in wanted]
            if await self.aside(self._trier, self._try, as_they_are):
                return ''  # several may be wrong: they are repaired one by one
        return reason

    def _try(self, wanted: Sequence[Wanted]) -> str:
        """Return why none of the robots could be served, empty if one can or there is none."""
        reason = ''
        for robot in wanted:
            try:
                self.make_stream(Reading(self._read(*robot), *robot))
            except (GeolinError, OSError) as error:
                reason = str(error)
            except Exception as error:  # else it would end the process
                reason = f'{type(error).__name__}: {error}'
            else:
                return ''
        return reason

    def _check_parameters(self, parameters: list[Any]) -> SetParametersResult:
        try:
            self._checked({parameter.name: parameter.value for parameter in parameters})
        except GeolinError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _checked(self, changed: dict[str, Any]) -> dict[str, Any]:
        """Return the values of all parameters, with changed ones; raise for wrong ones."""
        check_all(changed, self._table)
        present = {name: self.get_parameter(name).value for name in self._table}
        values = present | {name: value for name, value in changed.items() if name in present}
        self.check(values)
        check_payload({key: v for key, v in values.items() if v != present[key]}, values)
        return values

    def _take_back(self) -> None:
        assert self._server.served is not None
        values = self._server.served.values
        back = [
            RosParameter(name, self.get_parameter(name).type_, values[name])
            for name in self._values
            if self._values[name] != values[name]
        ]
        names = ', '.join(parameter.name for parameter in back)
        self.get_logger().error(f'set back {names}: {self._server.pending}')
        self.set_parameters_atomically(back)

    def _apply_parameters(self, parameters: list[Any]) -> None:
        changed = {
            parameter.name: parameter.value
            for parameter in parameters
            if parameter.name in self._values and parameter.value != self._values[parameter.name]
        }
        if not changed:
            return
        self._values |= changed
        self.on_changed(set(changed))
        source = {name: changed.get(name, '') for name in SOURCE_NAMES}
        if self._source is not None and any(source.values()):
            self._source.close()
            self._source = DescriptionSource(self, source, self._on_description)
        elif self._description is not None:
            self._server.want(self._description, self._values)

    # ---- inputs

    def take(self, topic: str, message: Any) -> None:
        """Publish what the stream answers to a message; runs at the rate of the robot."""
        start = time.perf_counter()
        pipeline = self._pipeline
        if pipeline is None:
            if topic == 'joint_states':
                self._counts.received += 1
                self._counts.drops[Cause.NO_MODEL] += 1
            return
        for answer in pipeline.stream.take(topic, message):
            self.publish(pipeline, answer, start)

    # ---- once a second

    def _on_second(self) -> None:
        waits_for = None
        if self._pipeline is None:
            waits_for = self.waits_for()
        elif not self._is_active:
            waits_for = 'activation'
        server, waited = self._server, time.monotonic() - self._waiting_since
        if server.state is State.ABSENT and waited > self._values['description_timeout']:
            self._waiting_since = time.monotonic()
            self.get_logger().error(f'after {waited:.0f} s still waits for {waits_for}')
        self._warn_of_other_types()
        report = self.report(waits_for)
        (status,) = report.status
        found = {f'publishers of {s.topic_name}': s.get_publisher_count() for s in self._inputs}
        for output in self._outputs:
            found[f'subscribers of {output.topic_name}'] = output.get_subscription_count()
        found['pending'] = server.pending or 'nothing'
        status.values += [KeyValue(key=name, value=str(value)) for name, value in found.items()]
        if server.state is State.REFUSED and status.level == DiagnosticStatus.OK:
            status.level, status.message = DiagnosticStatus.WARN, server.reason
        self._diagnostics_publisher.publish(report)

    def _warn_of_other_types(self) -> None:
        """Say which inputs somebody publishes as another type: DDS never connects the two."""
        for subscription in self._inputs:
            topic, kind = subscription.topic_name, subscription.msg_type
            for other in self.get_publishers_info_by_topic(topic):
                if other.topic_type != name_of(kind):
                    parameter = ', or set parameter base_source' if kind is Odometry else ''
                    self._warn(
                        topic,
                        f'topic {topic} is published as {other.topic_type} by node '
                        f'{other.node_name}, expected {name_of(kind)}: no message of it arrives; '
                        f'correct the publisher, or remap (-r {topic}:=OTHER){parameter}',
                    )

    def waits_for(self) -> str:
        """Return what a node that serves no robot waits for."""
        if self._server.state is State.BUILDING:
            return 'the kernels of its robot, which are being compiled or loaded'
        return self._source.waits_for if self._source is not None else 'its configuration'


def _descriptor(parameter: Parameter) -> ParameterDescriptor:
    text = f'{parameter.text} [{parameter.unit}]' if parameter.unit else parameter.text
    descriptor = ParameterDescriptor(
        description=text,
        read_only=not parameter.live,
        additional_constraints=', '.join(parameter.choices),
    )
    low, high = parameter.bounds or (0.0, 0.0)
    if parameter.bounds and isinstance(parameter.default, int):
        descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high), step=1)]
    elif parameter.bounds:
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return descriptor
