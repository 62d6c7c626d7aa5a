# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Processors, and kernels as object files for them that need libc and libm alone.

Numba compiles a kernel into a function that takes every array in parts and returns a status, and
wraps it for Python. Here the function gets another wrapper, which takes a pointer and a length for
each array; everything else is dropped.

Numba has optimized the functions. They are not optimized again: another order of the same
instructions would be fused into other multiply-adds, and so would not give Python's bytes.
"""

import platform
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba
from numba import types

from geolin_ros.errors import ConfigurationError, check_choice

_config: Any = numba.config
LIBM = frozenset(
    ('acos', 'atan2', 'cos', 'exp', 'frexp', 'log', 'pow', 'sin', 'sincos', 'sqrt', 'tan', 'tanh')
)
LIBC = frozenset(('memcpy', 'memmove', 'memset'))


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
    own = [name for name, target in LEVELS.items() if target.architecture == machine]
    return own or ['native']


def targets_of(names: Sequence[str]) -> list[Target]:
    """Return targets by their names, best first.

    Raises `ConfigurationError` if a name is unknown, or ``native`` is not alone.
    """
    for name in names:
        check_choice('target', name, NAMES)
    if 'native' not in names:
        return [target for name, target in LEVELS.items() if name in names]
    if set(names) != {'native'}:
        raise ConfigurationError(
            f'targets are {", ".join(names)}, but native runs on processors like this one alone '
            'and nothing chooses it when the library is loaded; expected native, or the others'
        )
    features = _config.CPU_FEATURES  # of the processor that Numba compiles for
    if features is None:
        features = llvm.get_host_cpu_features().flatten()
    cpu = _config.CPU_NAME or llvm.get_host_cpu_name()
    return [Target('native', llvm.get_process_triple(), cpu, features)]


class Kernel(NamedTuple):
    """A kernel, and the Numba types of its arguments: flat or square arrays, numbers."""

    function: Any
    arguments: tuple[Any, ...]

    @property
    def prototype(self) -> str:
        """The arguments of the wrapper in C."""
        words = []
        for argument in self.arguments:
            if isinstance(argument, types.Array):
                constant = '' if argument.mutable else 'const '
                kind = 'int64_t' if argument.dtype == types.int64 else 'double'
                words.append(f'{constant}{kind} *, int64_t')
            else:
                words.append('int64_t' if argument == types.int64 else 'double')
        return ', '.join(words)


def object_code(kernels: Mapping[str, Kernel], target: Target, symbol: str) -> bytes:
    """Return an ELF object with a function ``symbol`` + name + level for each kernel.

    Raises `ConfigurationError` if this LLVM does not know the processor, or Numba's checks of
    bounds are on.
    """
    if _config.BOUNDSCHECK:
        raise ConfigurationError(
            "NUMBA_BOUNDSCHECK is set, whose errors are Python's; expected it unset for an export"
        )
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        known = llvm.Target.from_triple(target.triple)
    except RuntimeError as error:
        raise ConfigurationError(
            f'target {target.name!r} is not known to this LLVM ({error}), expected another one'
        ) from None
    machine = known.create_target_machine(
        cpu=target.cpu, features=target.features, opt=3, reloc='pic', codemodel='small'
    )
    module = llvm.parse_assembly(_wrappers(kernels, target, symbol))
    for kernel in kernels.values():
        module.link_in(_compiled(kernel).library._get_module_for_linking().clone())
    text = str(module)
    for word, value in (('datalayout', machine.target_data), ('triple', target.triple)):
        text = re.sub(rf'(?m)^target {word} = .*$', f'target {word} = "{value}"', text)
    # of finite numbers they are the same
    module = llvm.parse_assembly(text.replace('@numba_frexp(', '@frexp('))
    # nothing but the wrappers, and what they call, is seen from outside
    names = {f'{symbol}{name}_{target.symbol}' for name in kernels}
    for one in (*module.functions, *module.global_variables):
        if one.name in names:
            one.visibility = 'hidden'
        elif not one.is_declaration:
            one.linkage = 'internal'
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    asked = {function.name for function in module.functions if function.is_declaration}
    strangers = {name for name in asked if not name.startswith('llvm.')} - LIBM - LIBC
    if strangers:
        raise ConfigurationError(
            f'kernels ask for {", ".join(sorted(strangers))}, expected functions of libc and libm'
        )
    return bytes(machine.emit_object(module))


def _compiled(kernel: Kernel) -> Any:
    kernel.function.compile(kernel.arguments)  # once: afterwards it is found
    return kernel.function.overloads[kernel.arguments]


def _wrappers(kernels: Mapping[str, Kernel], target: Target, symbol: str) -> str:
    """Return the wrappers as LLVM writes them."""
    lines = []
    for name, kernel in kernels.items():
        given, taken, passed, sums = [], ['ptr', 'ptr'], ['ptr %result', 'ptr %raised'], []
        for k, argument in enumerate(kernel.arguments):
            if isinstance(argument, types.Array):
                given += [f'ptr %data{k}', f'i64 %size{k}']
                count, axes = f'%size{k}', [f'i64 %size{k}', 'i64 8']
                # object, owner, entries, bytes of one, data, entries along the axis, stride
                taken += ['ptr', 'ptr', 'i64', 'i64', 'ptr', *['i64'] * (2 * argument.ndim)]
                if argument.ndim == 2:
                    sums.append(f'  %all{k} = mul i64 %size{k}, %size{k}')
                    sums.append(f'  %row{k} = mul i64 %size{k}, 8')
                    count = f'%all{k}'
                    axes = [f'i64 %size{k}', f'i64 %size{k}', f'i64 %row{k}', 'i64 8']
                passed += ['ptr null', 'ptr null', f'i64 {count}', 'i64 8', f'ptr %data{k}', *axes]
            else:
                kind = 'i64' if argument == types.int64 else 'double'
                given.append(f'{kind} %value{k}')
                taken.append(kind)
                passed.append(f'{kind} %value{k}')
        inner = f'@"{_compiled(kernel).fndesc.llvm_func_name}"'
        lines += [
            f'declare i32 {inner}({", ".join(taken)})',
            f'define i64 @{symbol}{name}_{target.symbol}({", ".join(given)}) nounwind {{',
            '  %result = alloca i64',
            '  %raised = alloca ptr',
            *sums,
            f'  call i32 {inner}({", ".join(passed)})',
            '  %status = load i64, ptr %result',
            '  ret i64 %status',
            '}',
        ]
    return '\n'.join(lines)
