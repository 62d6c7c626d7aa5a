# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator for a controller that is a program beside it: states and efforts in shared memory.

The program gets the path of the memory, see `examples/cpp_controller/controller.cpp`. Efforts act
one period after the state they answer, as on a robot whose motors are on a bus. In lock step, the
default, a state waits for its efforts; with --realtime a period goes by with the clock, and
efforts that are not there by its end are counted as missed. Prints a line; the exit status is 1
if the robot falls.
"""

import argparse
import ctypes
import errno
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from types import TracebackType

import numpy as np
from geolin_demos.balance.cases import cases_of
from geolin_demos.balance.robots import add_robot_arguments, simulator_of
from geolin_demos.sim.simulator import Recording, Simulator, simulate

from geolin_ros.errors import ConfigurationError, GeolinError
from geolin_ros.model.state import State
from geolin_ros.ros.programs import NUMBERS
from geolin_ros.typing import Array

INTERRUPTED = 130
PERIOD = 0.001  # [s]
PATIENCE = 5.0  # with a program in lock step, and before it answers for the first time [s]
CARRIES = 5.0  # force on a foot [N]
SEMAPHORE = 32  # bytes of a sem_t of glibc


class _Moment(ctypes.Structure):
    _fields_ = (('seconds', ctypes.c_long), ('nanoseconds', ctypes.c_long))


class ControllerError(GeolinError, RuntimeError):
    """The program ended, or does not answer."""


class ControllerProgram:
    """A control law that runs in another process.

    Parameters
    ----------
    words
        Command of the program; the path of the memory is added.
    simulator
        The robot.
    efforts : (n,)
        Until the program answers [N m or N].
    period
        From one state to the next [s].
    is_realtime
        Whether periods go by with the clock.

    Attributes
    ----------
    latencies
        From a state sent to the efforts received [s].
    missed
        How many periods ended without the answer to their state.
    surprises
        By how much the velocities of each state were off from those that the program expected,
        beside their change since the state before: norms of six and n numbers in their units.
    """

    def __init__(
        self,
        words: Sequence[str],
        simulator: Simulator,
        efforts: Array,
        period: float = PERIOD,
        is_realtime: bool = False,
    ) -> None:
        n, size = simulator.model.n, simulator.state.data.size
        self._simulator, self._period, self._realtime = simulator, period, is_realtime
        layout = np.dtype(
            [
                ('state_is_there', 'u1', SEMAPHORE),
                ('efforts_are_there', 'u1', SEMAPHORE),
                ('is_over', 'i8'),
                ('contacts', 'i8'),
                ('status', 'i8'),
                ('x', 'f8', size),
                ('applied', 'f8', n),
                ('efforts', 'f8', n),
                ('expected', 'f8', size),
            ]
        )
        folder = '/dev/shm' if os.path.isdir('/dev/shm') else None
        self._file = tempfile.NamedTemporaryFile(prefix='geolin-', dir=folder)  # noqa: SIM115
        self._file.truncate(layout.itemsize)
        self._memory = mmap.mmap(self._file.fileno(), layout.itemsize)
        self._loop = np.frombuffer(self._memory, layout)[0]
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._state, self._answer = (
            ctypes.c_void_p(self._loop[name].ctypes.data)
            for name in ('state_is_there', 'efforts_are_there')
        )
        for semaphore in (self._state, self._answer):
            self._libc.sem_init(semaphore, 1, 0)
        self._efforts, self._before = efforts.copy(), np.zeros(6 + n)
        self._is_answered, self._due = True, time.monotonic()
        self.latencies: list[float] = []
        self.surprises: list[tuple[float, float]] = []
        self.missed = 0
        self._words = ' '.join(words)
        self._program = subprocess.Popen([*words, self._file.name])

    def __enter__(self) -> 'ControllerProgram':
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop['is_over'] = 1
        self._libc.sem_post(self._state)
        try:
            self._program.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._program.kill()
            self._program.wait()
        self._file.close()

    def __call__(self, now: float, state: State) -> Array:
        """Return the efforts of this period: those that answered the state before.

        Raises
        ------
        ControllerError
            If the program has ended, or does not answer in lock step.
        """
        acting, here = self._efforts, time.monotonic()
        self._due = (here if here > self._due + 0.2 * self._period else self._due) + self._period
        if self._is_answered:
            self._send(state, acting)
        self._is_answered = self._receive()
        if self._is_answered:
            self._efforts = self._loop['efforts'].copy()
        else:
            self.missed += 1
        if self._realtime:
            time.sleep(max(0.0, self._due - time.monotonic()))
        return acting

    def _send(self, state: State, acting: Array) -> None:
        """Give a state to the program, which has answered the one before."""
        loop, velocities = self._loop, state.data[-self._before.size :]
        off = velocities - loop['expected'][-velocities.size :]
        pair = np.linalg.norm(off), np.linalg.norm(velocities - self._before)
        self.surprises.append((float(pair[0]), float(pair[1])))
        self._before = velocities.copy()
        forces = self._simulator.wrenches().values()
        carry = [bool(np.linalg.norm(wrench[:3]) > CARRIES) for wrench in forces]
        # Before the first step of the physics no foot carries yet.
        loop['contacts'] = sum(1 << k for k, does in enumerate(carry) if does or not any(carry))
        loop['x'], loop['applied'] = state.data, acting
        self._sent = time.monotonic()
        self._libc.sem_post(self._state)

    def _receive(self) -> bool:
        """Return whether the efforts came in time."""
        strict = not (self._realtime and self.latencies)
        until = time.time() + (PATIENCE if strict else max(0.0, self._due - time.monotonic()))
        moment = _Moment(int(until), int(until % 1.0 * 1e9))
        while self._libc.sem_timedwait(self._answer, ctypes.byref(moment)) != 0:
            if ctypes.get_errno() != errno.EINTR:
                if strict or self._program.poll() is not None:
                    raise ControllerError(
                        f'the controller {self._words} does not answer, its exit status is '
                        f'{self._program.poll()}'
                    )
                return False
        self.latencies.append(time.monotonic() - self._sent)
        self._file.close()  # both have the memory: nothing is left behind, whoever is killed
        return True


def run(options: argparse.Namespace) -> tuple[Recording, ControllerProgram]:
    """Let the robot stand and push it.

    Raises
    ------
    GeolinError
        If robot or feet cannot be used, or the program does not answer.
    OSError
        If it cannot be started.
    """
    simulator = simulator_of(options.robot, options.feet, options.effort_limit, options.friction)
    found = cases_of(simulator, options.cases, options.height, options.pushes, options.seed)
    cases = [case for case in found.feasible if len(case.motion.knots) == 1]
    if not cases or len(simulator.model.actuated_joints) != simulator.model.n:
        raise ConfigurationError(
            f'robot {simulator.model.name!r} cannot stand still, or has joints without motors: '
            f'{found.infeasible}'
        )
    case = cases[0] if options.impulse is None else cases[0].with_impulse(options.impulse)
    simulator.pushes = list(case.pushes)
    motion = case.motion
    simulator.reset(motion.reference(0.0))
    program = ControllerProgram(
        [options.program], simulator, motion.at(0.0).tau, options.period, options.realtime
    )
    with program:
        recording = simulate(
            simulator, program, motion.reference, motion.duration, period=options.period
        )
    percentiles = np.percentile(program.latencies, (50.0, 99.0, 99.9, 100.0))
    print(
        f'{"PASS" if recording.stands else "FAIL"}  {case.name}, J {case.impulse:g} s, '
        f'{len(case.pushes)} pushes: '
        f'{"stands" if recording.stands else f"falls at {recording.fallen} s"}, base off by at '
        f'most {1e3 * recording.peak_error():.1f} mm, {program.missed} periods missed; from state '
        'to effort [us] p50 {:.0f}, p99 {:.0f}, p99.9 {:.0f}, max {:.0f}'.format(
            *(1e6 * percentiles)
        ),
        flush=True,
    )
    return recording, program


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog='simulator.py', description=__doc__)
    parser.add_argument('program', help='the controller')
    add_robot_arguments(parser)
    parser.set_defaults(robot='quadruped')
    parser.add_argument('--impulse', type=float, help='J of the pushes [s]')
    parser.add_argument(
        '--period', type=float, default=PERIOD, help='from state to state [s] (%(default)s)'
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run; return the exit status."""
    for number in NUMBERS:
        signal.signal(number, lambda *_: sys.exit(INTERRUPTED))
    try:
        recording, _ = run(parse(arguments))
        return int(not recording.stands)
    except (GeolinError, OSError) as error:
        print(f'simulator: {error}', file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main())
