# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Many states in one call, per state, against Python loops over Pinocchio and MuJoCo.

What ours returns is complete and in new arrays, unless stated otherwise; Pinocchio and MuJoCo
write into the data they keep.
"""

import argparse
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import mujoco
import numpy as np
import pinocchio as pin

import geolin_ros
from benchmarks.measure import interleaved_medians
from benchmarks.mujoco_model import free_model
from benchmarks.physical_limit import multiply_add
from benchmarks.report import Figure, Row, line
from benchmarks.robots import Pair, paths, read
from geolin_ros import Linearizer, State
from geolin_ros.kernels.packing import layout
from geolin_ros.typing import Array

ROBOTS = ['go2', 'talos_reduced']
STATES, CHUNK = 1000, 128
BLOCK = 0.03  # of calls in a row [s]: work that goes on, not its start in the caches of another
GAIN = 1.5 / 2.0  # of two threads over one, of what registers gain: waking takes 0.1 ms
REGISTERS = 500_000  # rounds of sixteen multiply-adds of eight lanes: a few milliseconds
DERIVATIVES = 'loop over pin.computeABADerivatives'
ONE_CALL = f'{STATES} states in one call'


def measure(rounds: int) -> list[Row]:
    """Compare linearizations and dynamics of ``STATES`` states."""
    rows: list[Row] = []
    for path in paths(ROBOTS):
        pair = read(path)
        if pair is not None:
            rows += linearizations(pair, rounds) + beside_mujoco(pair, rounds)
            rows += dynamics(pair, rounds)
    return rows


def second_thread(rounds: int) -> list[Figure]:
    """Compare two threads with one, A and B of ``STATES`` states."""
    return [gain(pair, rounds) for pair in map(read, paths(ROBOTS)) if pair is not None]


def per_state(
    pair: Pair,
    ours: dict[str, tuple[Callable[[], object], float | None]],
    peer: str,
    theirs: Callable[[], object],
    rounds: int,
    states: int = STATES,
) -> list[Row]:
    """Time ours and the peer in turns and print a row each."""
    calls = {what: call for what, (call, _) in ours.items()}
    scale = 1e6 / states
    times = interleaved_medians({**calls, 'peer': theirs}, rounds, BLOCK)
    rows = [
        Row(what, pair.name, scale * times[what], peer, scale * times['peer'], limit)
        for what, (_, limit) in ours.items()
    ]
    for row in rows:
        print(line(row), flush=True)
    return rows


def points(pair: Pair, count: int) -> tuple[list[State], Array, list[tuple[Array, ...]]]:
    """Return states and efforts, and the same for Pinocchio."""
    rng = np.random.default_rng(1)
    drawn = [pair.operating_point(rng) for _ in range(count)]
    (states, tau), theirs = zip(*(own for own, _ in drawn), strict=True), [p for _, p in drawn]
    return list(states), np.array(tau), theirs


def looped(function: Callable[..., object], arguments: Iterable[tuple[object, ...]]) -> object:
    """Call a function at every state."""
    return lambda: [function(*given) for given in arguments]


def linearizations(pair: Pair, rounds: int) -> list[Row]:
    """Compare A and B with Pinocchio's derivatives."""
    states, tau, theirs = points(pair, STATES)
    rows_of = np.array([state.data for state in states])
    one = Linearizer(pair.model).batch
    room, chunk = one.room(STATES), one.room(CHUNK)

    def streamed() -> None:
        for k in range(0, STATES, CHUNK):
            one(rows_of[k : k + CHUNK], tau[k : k + CHUNK], out=chunk)

    return per_state(
        pair,
        {
            f'A and B, {ONE_CALL}, memory reused': (streamed, 0.16),
            f'A and B, {ONE_CALL}, all kept': (partial(one, rows_of, tau, out=room), 0.22),
        },
        DERIVATIVES,
        looped(partial(pin.computeABADerivatives, pair.pin_model, pair.pin_data), theirs),
        rounds,
    )


def beside_mujoco(pair: Pair, rounds: int) -> list[Row]:
    """Compare A and B of fewer states with MuJoCo's finite differences."""
    states, tau, _ = points(pair, CHUNK)
    rows_of = np.array([state.data for state in states])
    one = Linearizer(pair.model).batch
    return per_state(
        pair,
        {
            f'A and B, {CHUNK} states in one call': (
                partial(one, rows_of, tau, out=one.room(CHUNK)),
                None,
            )
        },
        'loop over mujoco.mjd_transitionFD',
        transitions(pair, states, tau),
        rounds,
        CHUNK,
    )


def gain(pair: Pair, rounds: int) -> Figure:
    """Compare the gain of two threads with that of multiply-adds in registers.

    Those need no memory and nothing of Python's: what two idle cores gain is 2, what two threads
    of one core gain is less.
    """
    states, tau, _ = points(pair, STATES)
    rows_of = np.array([state.data for state in states])
    one, two = (
        Linearizer(pair.model).batch,
        partial(Linearizer(pair.model).batch, threads=2),
    )
    room = one.room(STATES)
    works = [layout.aligned_zeros(144) for _ in range(2)]

    def registers(work: Array) -> None:
        multiply_add(work, REGISTERS)

    with ThreadPoolExecutor(2) as pool:
        calls: dict[str, Callable[[], object]] = {
            'ours, one': partial(one, rows_of, tau, out=room),
            'ours, two': partial(two, rows_of, tau, out=room),
            'registers, one': lambda: [registers(work) for work in works],
            'registers, two': lambda: list(pool.map(registers, works)),
        }
        times = interleaved_medians(calls, rounds, BLOCK)
    own = times['ours, one'] / times['ours, two']
    most = times['registers, one'] / times['registers, two']
    what, peer = f'second thread, A and B, {ONE_CALL}', 'arithmetic in registers'
    figure = Figure(what, pair.name, own, 'x', GAIN * most, True, peer, most)
    print(line(figure), flush=True)
    return figure


def transitions(pair: Pair, states: list[State], tau: Array) -> Callable[[], object]:
    """Return MuJoCo's finite differences of a step at every state, one-sided."""
    model = free_model(paths([pair.name])[0])
    data, size = mujoco.MjData(model), 2 * model.nv
    A = np.zeros((size, size))
    joints = [model.joint(name) for name in pair.model.joint_names]
    q = np.array([int(joint.qposadr[0]) for joint in joints])
    v = np.array([int(joint.dofadr[0]) for joint in joints])

    def at(state: State, effort: Array) -> None:
        data.qpos[:3] = state.H[:3, 3]
        mujoco.mju_mat2Quat(data.qpos[3:7], np.ascontiguousarray(state.H[:3, :3]).ravel())
        data.qvel[:3], data.qvel[3:6] = state.H[:3, :3] @ state.v[:3], state.v[3:]
        data.qpos[q], data.qvel[v], data.qfrc_applied[v] = state.s, state.r, effort
        mujoco.mjd_transitionFD(model, data, 1e-6, False, A, None, None, None)

    return looped(at, list(zip(states, tau, strict=False)))


def dynamics(pair: Pair, rounds: int) -> list[Row]:
    """Compare the dynamics and their derivatives."""
    model, pin_model, data = pair.model, pair.pin_model, pair.pin_data
    states, tau, theirs = points(pair, STATES)
    rows_of = np.array([state.data for state in states])
    nu_dot = np.random.default_rng(2).normal(size=(STATES, model.m))
    half = np.arange(model.n) % 2 == 0
    given = rows_of, nu_dot[:, -model.n :], tau, half
    positions = [(q,) for q, _, _ in theirs]
    pairs: list[tuple[str, Callable[[], object], str, object, float]] = [
        ('inverse dynamics', partial(geolin_ros.inverse_dynamics, model, rows_of, nu_dot),
         'rnea', theirs, 1.0),
        ('forward dynamics', partial(geolin_ros.forward_dynamics, model, rows_of, tau),
         'aba', theirs, 1.0),
        ('hybrid dynamics', partial(geolin_ros.hybrid_dynamics, model, *given),
         'aba', theirs, 1.3),
        ('mass matrix', partial(geolin_ros.mass_matrix, model, rows_of), 'crba', positions, 1.0),
        ('inverse mass matrix', partial(geolin_ros.mass_matrix_inverse, model, rows_of),
         'computeMinverse', positions, 1.0),
        ('Jacobians of inverse dynamics',
         partial(geolin_ros.inverse_dynamics_derivatives, model, rows_of, nu_dot),
         'computeRNEADerivatives', theirs, 1.0),
        ('Jacobians of forward dynamics',
         partial(geolin_ros.forward_dynamics_derivatives, model, rows_of, tau),
         'computeABADerivatives', theirs, 1.0),
    ]  # fmt: skip
    rows = []
    for what, ours, name, arguments, limit in pairs:
        peer = looped(partial(getattr(pin, name), pin_model, data), arguments)
        rows += per_state(
            pair, {f'{what}, {ONE_CALL}': (ours, limit)}, f'loop over pin.{name}', peer, rounds
        )
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--rounds', type=int, default=20, help='interleaved blocks')
    rounds = parser.parse_args().rounds
    measure(rounds)
    second_thread(rounds)


if __name__ == '__main__':
    main()
