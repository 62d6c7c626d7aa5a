# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Interleaved medians: what else runs on the machine then meets all contenders alike."""

import contextlib
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path

import llvmlite.binding as llvm
import numba


def interleaved_medians(
    contenders: Mapping[str, Callable[[], object]],
    rounds: int = 200,
    block_seconds: float = 5e-4,
) -> dict[str, float]:
    """Return the median time of one call of each contender [s].

    Short blocks of calls take turns, ``rounds`` times; the block of a contender is as long as
    ``block_seconds`` allows.
    """
    repeats = {name: _calls_within(call, block_seconds) for name, call in contenders.items()}
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            times[name].append(_time_block(call, repeats[name]))
    return {name: statistics.median(values) for name, values in times.items()}


def _calls_within(call: Callable[[], object], seconds: float) -> int:
    call()
    return max(1, int(seconds / max(_time_block(call, 20), 1e-9)))


def _time_block(call: Callable[[], object], repeats: int) -> float:
    turns = range(repeats)
    start = time.perf_counter()
    for _ in turns:
        call()
    return (time.perf_counter() - start) / repeats


def environment() -> dict[str, str]:
    """Return what a figure depends on: commit, processor, its vector instructions, versions."""
    features = llvm.get_host_cpu_features()
    names = ('avx512f', 'avx2', 'sse2', 'neon', '')
    widest = next(name for name in names if features.get(name, not name))
    if numba.config.CPU_FEATURES == '':  # what NUMBA_CPU_NAME has, less than there is
        named = {'x86-64': 'sse2', 'x86-64-v2': 'sse2', 'x86-64-v3': 'avx2'}
        widest = named.get(numba.config.CPU_NAME, widest)
    versions = {name: metadata.version(name) for name in ('numpy', 'numba', 'scipy', 'pin')}
    describe = ['git', 'describe', '--always', '--dirty', '--exclude=*']
    folder = Path(__file__).parent
    commit = subprocess.run(describe, cwd=folder, capture_output=True, text=True).stdout.strip()
    return {
        'commit': commit or 'unknown',
        'processor': llvm.get_host_cpu_name(),
        'vectors': widest or 'unknown',
        'python': platform.python_version(),
        **versions,
    }


def waiting_seconds(pid: int) -> float:
    """Return the time that threads of a process were ready and had no processor [s]."""
    total = 0
    for file in Path(f'/proc/{pid}/task').glob('*/schedstat'):
        with contextlib.suppress(OSError):  # a thread that has ended
            total += int(file.read_text().split()[1])
    return total * 1e-9


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has taken [s]."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
