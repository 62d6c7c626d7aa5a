# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The strongest peer: Pinocchio's headers compiled by clang for this processor.

The library of the wheel is compiled for any x86-64, and about half as fast. Both are timed here
beside ours, in turns, in one process.
"""

import argparse
import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from functools import cache, partial
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pinocchio as pin

from benchmarks import c_library
from benchmarks import contacts as contacts_benchmark
from benchmarks.measure import interleaved_medians
from benchmarks.report import Row, line
from benchmarks.robots import FOLDER, Pair, paths, read
from geolin_ros import Contact, Linearizer

ROBOTS = ('go2', 'g1_29dof_rev_1_0', 'talos_reduced', 'talos_full_v2')
LIMIT = 0.35  # for a call, which on the smallest robot takes a quarter of the time
IN_PLACE_LIMIT, C_LIMIT, CONTACT_LIMIT = 0.3, 0.24, 0.3
WHAT, IN_PLACE_WHAT, C_WHAT, PEER = (
    'A and B, strongest peer',
    'A and B by Linearizer.run, strongest peer',
    'A and B from C, strongest peer',
    'computeABADerivatives, clang -O3 -march=native',
)
CONTACT_WHAT, CONTACT_PEER = (
    'A, B and contact wrenches from C, strongest peer',
    'constraintDynamics and derivatives, clang -O3 -march=native',
)
OPTIONS = (
    *('-O3', '-march=native', '-std=c++17', '-DNDEBUG', '-shared', '-fPIC'),
    '-w',  # its own headers use what they call deprecated,
    *('-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS', '-DBOOST_MPL_LIMIT_LIST_SIZE=30'),  # Pinocchio's,
    '-DBOOST_FUSION_INVOKE_MAX_ARITY=12',  # this too
)
EIGEN = Path('/usr/include/eigen3')
REPEATS = 10  # in one call: what ctypes adds is no part of the peer
SOURCE = Path(__file__).with_suffix('.cpp')


def missing() -> str | None:
    """Return what keeps the peer from being compiled, or None."""
    if shutil.which('clang++') is None:
        return 'the strongest peer is not timed: clang++ is missing (Debian package clang)'
    if not EIGEN.is_dir():
        return f'the strongest peer is not timed: {EIGEN} is missing (Debian: libeigen3-dev)'
    return None


@cache
def compiled() -> ctypes.CDLL:
    """Return the library; compiling it takes a minute or two, once for sources and processor."""
    prefix = FOLDER.parents[2]  # of the wheels that hold Pinocchio and Boost
    key = f'{pin.__version__} {llvm.get_host_cpu_name()} {OPTIONS} {prefix}\n{SOURCE.read_text()}'
    name = hashlib.sha256(key.encode()).hexdigest()[:16]
    library = Path.home() / '.cache' / 'geolin_benchmarks' / f'{name}.so'
    if not library.exists():
        print(f'compile Pinocchio by clang to {library}', flush=True)
        library.parent.mkdir(parents=True, exist_ok=True)
        unfinished = library.with_suffix('.unfinished')
        subprocess.run(
            ['clang++', *OPTIONS, f'-I{prefix}/include', f'-I{EIGEN}', SOURCE, '-o', unfinished,
             f'-L{prefix}/lib', '-lboost_serialization', f'-Wl,-rpath,{prefix}/lib'],
            check=True,
        )  # fmt: skip
        unfinished.rename(library)
    peer = ctypes.CDLL(str(library))
    peer.read_robot.restype = ctypes.c_void_p
    vector = np.ctypeslib.ndpointer(np.float64, 1)
    timed = [ctypes.c_void_p, *[vector] * 3, ctypes.c_int, vector]
    peer.derivatives.argtypes = peer.contact_derivatives.argtypes = timed
    return peer


def robot_of(pair: Pair) -> ctypes.c_void_p:
    """Return the peer's robot."""
    with tempfile.NamedTemporaryFile(suffix='.txt') as file:
        pair.pin_model.saveToText(file.name)
        return ctypes.c_void_p(compiled().read_robot(file.name.encode()))


def compare_pair(pair: Pair, rounds: int) -> list[Row]:
    """Time ours, from Python and from C, beside the peer, from C++, which has to be right."""
    peer = compiled()
    (state, tau), theirs = pair.operating_point(np.random.default_rng(1))
    robot = robot_of(pair)
    found = np.empty(pair.pin_model.nv)
    peer.derivatives(robot, *theirs, 1, found)
    expected = pin.aba(pair.pin_model, pair.pin_data, *theirs)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    in_place = Linearizer(pair.model)
    in_place.state.data[:], in_place.tau[:] = state.data, tau
    times = interleaved_medians(
        {
            'ours': partial(Linearizer(pair.model), state, tau),
            'in place': in_place.run,
            'c': c_library.linearize_repeatedly(pair.model, state, tau, REPEATS),
            'clang': partial(peer.derivatives, robot, *theirs, REPEATS, found),
            'wheel': partial(pin.computeABADerivatives, pair.pin_model, pair.pin_data, *theirs),
        },
        rounds,
    )
    ours, wheel = 1e6 * times['ours'], 1e6 * times['wheel']
    ran, in_c = 1e6 * times['in place'], 1e6 * times['c'] / REPEATS
    clang = 1e6 * times['clang'] / REPEATS
    rows = [
        Row(WHAT, pair.name, ours, PEER, clang, LIMIT),
        Row(IN_PLACE_WHAT, pair.name, ran, PEER, clang, IN_PLACE_LIMIT),
        Row(C_WHAT, pair.name, in_c, PEER, clang, C_LIMIT),
    ]
    for row in rows:
        print(line(row), f'  wheel {wheel:.1f} us', flush=True)
    return rows


def compare_standing(pair: Pair, contacts: list[Contact], rounds: int) -> list[Row]:
    """Do the same in contact."""
    peer, robot, model = compiled(), robot_of(pair), pair.pin_model
    (state, tau), theirs = pair.operating_point(np.random.default_rng(1))
    frames = [model.getFrameId(contact.frame) for contact in contacts]
    whole = [contact.kind == 'surface' for contact in contacts]
    integers = ctypes.c_int * len(contacts)
    peer.hold(robot, len(contacts), integers(*frames), integers(*whole))
    found = np.empty(model.nv * (1 + model.nv))
    peer.contact_derivatives(robot, *theirs, 1, found)
    wheel = contacts_benchmark.pinocchio_call(pair, contacts, *theirs)
    wheel()
    expected = np.concatenate((pair.pin_data.ddq, pair.pin_data.ddq_dtau.ravel(order='F')))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())
    times = interleaved_medians(
        {
            'ours': partial(Linearizer(pair.model, contacts), state, tau),
            'c': c_library.linearize_repeatedly(pair.model, state, tau, REPEATS, contacts),
            'clang': partial(peer.contact_derivatives, robot, *theirs, REPEATS, found),
            'wheel': wheel,
        },
        rounds,
    )
    in_c, clang = (1e6 * times[name] / REPEATS for name in ('c', 'clang'))
    row = Row(CONTACT_WHAT, pair.name, in_c, CONTACT_PEER, clang, CONTACT_LIMIT)
    others = f'ours from Python {1e6 * times["ours"]:.1f}, wheel {1e6 * times["wheel"]:.1f} us'
    print(line(row), f'  {others}', flush=True)
    return [row]


def measure(names: list[str], rounds: int) -> list[Row]:
    """Compare robots of the wheel, or say what is missing."""
    if reason := missing():
        print(reason)
        return []
    pairs = [pair for path in paths(names) if (pair := read(path)) is not None]
    return [
        *(row for pair in pairs for row in compare_pair(pair, rounds)),
        *(
            row
            for pair in pairs
            if (standing := contacts_benchmark.STANDING.get(pair.name)) is not None
            for row in compare_standing(pair, standing, rounds)
        ),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('robots', nargs='*', default=list(ROBOTS), help='names of URDF files')
    parser.add_argument('--rounds', type=int, default=200, help='interleaved blocks')
    options = parser.parse_args()
    measure(options.robots, options.rounds)


if __name__ == '__main__':
    main()
