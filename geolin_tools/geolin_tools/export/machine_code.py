# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Kernels as object files that need libc and libm alone.

Numba compiles a kernel into a function that takes every array in parts and returns a status, and
wraps it for Python. Here the function gets another wrapper, which takes a pointer and a length for
each array; everything else is dropped.

Numba has optimized the functions. They are not optimized again: another order of the same
instructions would be fused into other multiply-adds, and so would not give Python's bytes.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba
from numba import types

from geolin_ros.errors import ConfigurationError
from geolin_tools.export.targets import Target

_config: Any = numba.config
LIBM = frozenset(
    ('acos', 'atan2', 'cos', 'exp', 'frexp', 'log', 'pow', 'sin', 'sincos', 'sqrt', 'tan', 'tanh')
)
LIBC = frozenset(('memcpy', 'memmove', 'memset'))
RENAMED = {'numba_frexp': 'frexp'}  # of finite numbers they are the same


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

    Parameters
    ----------
    kernels
        By name.
    target
        The processor.
    symbol
        What names begin with.

    Raises
    ------
    ConfigurationError
        If this LLVM does not know the processor, or Numba's checks of bounds are on.
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
        module.link_in(_compiled(kernel).clone())
    module = llvm.parse_assembly(_retargeted(str(module), target, machine))
    _keep_alone(module, {f'{symbol}{name}_{target.symbol}' for name in kernels})
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    strangers = set(_needed(module)) - LIBM - LIBC
    if strangers:
        raise ConfigurationError(
            f'kernels ask for {", ".join(sorted(strangers))}, expected functions of libc and libm'
        )
    return bytes(machine.emit_object(module))


@cache
def _compiled(kernel: Kernel) -> Any:
    """Return the LLVM module of a kernel."""
    kernel.function.compile(kernel.arguments)
    return _overload(kernel).library._get_module_for_linking()


def _overload(kernel: Kernel) -> Any:
    return kernel.function.overloads[kernel.arguments]


def _wrappers(kernels: Mapping[str, Kernel], target: Target, symbol: str) -> str:
    """Return the wrappers as LLVM writes them."""
    lines = []
    for name, kernel in kernels.items():
        _compiled(kernel)
        given, taken, passed, sums = [], ['ptr', 'ptr'], ['ptr %result', 'ptr %raised'], []
        for k, argument in enumerate(kernel.arguments):
            if isinstance(argument, types.Array):
                given += [f'ptr %data{k}', f'i64 %size{k}']
                count, axes = f'%size{k}', [f'i64 %size{k}', 'i64 8']
                # object, owner, entries, bytes of one, data, entries along the axis, stride
                taken += ['ptr', 'ptr', 'i64', 'i64', 'ptr', *['i64'] * (2 * argument.ndim)]
                if argument.ndim == 2:
                    sums += [
                        f'  %{what}{k} = mul i64 %size{k}, {by}'
                        for what, by in (('all', f'%size{k}'), ('row', '8'))
                    ]
                    count, axes = (
                        f'%all{k}',
                        [f'i64 %size{k}', f'i64 %size{k}', f'i64 %row{k}', 'i64 8'],
                    )
                passed += ['ptr null', 'ptr null', f'i64 {count}', 'i64 8', f'ptr %data{k}', *axes]
            else:
                kind = 'i64' if argument == types.int64 else 'double'
                given.append(f'{kind} %value{k}')
                taken.append(kind)
                passed.append(f'{kind} %value{k}')
        inner = f'@"{_overload(kernel).fndesc.llvm_func_name}"'
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


def _retargeted(text: str, target: Target, machine: Any) -> str:
    text = re.sub(
        r'^target datalayout = .*$',
        f'target datalayout = "{machine.target_data}"',
        text,
        flags=re.MULTILINE,
    )
    text = re.sub(
        r'^target triple = .*$', f'target triple = "{target.triple}"', text, flags=re.MULTILINE
    )
    for name, other in RENAMED.items():
        text = text.replace(f'@{name}(', f'@{other}(')
    return text


def _keep_alone(module: Any, names: set[str]) -> None:
    """Leave nothing but functions and what they call to the outside."""
    for function in module.functions:
        if function.name in names:
            function.visibility = 'hidden'
        elif not function.is_declaration:
            function.linkage = 'internal'
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = 'internal'


def _needed(module: Any) -> Iterator[str]:
    """Return what the linker will be asked for."""
    for function in module.functions:
        if function.is_declaration and not function.name.startswith('llvm.'):
            yield function.name
