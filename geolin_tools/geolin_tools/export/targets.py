# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The processors that a C library is made for."""

import platform
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba

from geolin_ros.errors import ConfigurationError, did_you_mean

_config: Any = numba.config


class Target(NamedTuple):
    """A level of instructions."""

    name: str
    triple: str
    cpu: str
    features: str = ''
    """As LLVM writes them; those of the processor are on."""
    asks: tuple[str, ...] = ()
    """What of a processor is asked for when the library is loaded, in the words of gcc."""

    @property
    def architecture(self) -> str:
        """The first word of the triple."""
        return self.triple.partition('-')[0]

    @property
    def symbol(self) -> str:
        """Its name in C."""
        return self.name.replace('-', '_')


_X86, _ARM = 'x86_64-unknown-linux-gnu', 'aarch64-unknown-linux-gnu'
_V2 = ('popcnt', 'sse4.2')
_V3 = (*_V2, 'avx2', 'bmi', 'bmi2', 'fma')
_V4 = (*_V3, 'avx512f', 'avx512bw', 'avx512cd', 'avx512dq', 'avx512vl')
# Best first: the first one that the processor has is taken.
LEVELS = {
    target.name: target
    for target in (
        Target('x86-64-v4', _X86, 'x86-64-v4', asks=_V4),
        Target('x86-64-v3', _X86, 'x86-64-v3', asks=_V3),
        Target('x86-64-v2', _X86, 'x86-64-v2', asks=_V2),
        Target('aarch64', _ARM, 'generic'),
    )
}
NAMES = ('native', *LEVELS)


def default_names() -> list[str]:
    """Return all levels of this machine's kind of processor."""
    machine = platform.machine()
    return [name for name, target in LEVELS.items() if target.architecture == machine] or [
        'native'
    ]


def targets_of(names: list[str]) -> list[Target]:
    """Return targets by their names, best first.

    Raises
    ------
    ConfigurationError
        If a name is unknown, or ``native`` is not alone.
    """
    for name in names:
        if name not in NAMES:
            raise ConfigurationError(
                f'target is {name!r}, {did_you_mean(name, NAMES)}expected one or several of '
                f'{", ".join(NAMES)}'
            )
    if 'native' not in names:
        return [target for name, target in LEVELS.items() if name in names]
    if set(names) != {'native'}:
        raise ConfigurationError(
            f'targets are {", ".join(names)}, but native runs on processors like this one alone '
            'and nothing chooses it when the library is loaded; expected native, or the others'
        )
    return [_native()]


def _native() -> Target:
    """Return the processor that Numba compiles for here."""
    cpu = _config.CPU_NAME or llvm.get_host_cpu_name()
    features = _config.CPU_FEATURES
    if features is None:
        features = llvm.get_host_cpu_features().flatten()
    return Target('native', llvm.get_process_triple(), cpu, features)
