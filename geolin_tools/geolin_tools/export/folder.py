# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a C library: sources from templates, arrays, and object files."""

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from geolin_control.gain_header import c_string

from geolin_ros.control.support import Support
from geolin_ros.errors import ConfigurationError
from geolin_ros.kernels.engine.exponential import parts_of
from geolin_ros.kernels.packing import layout, own_layout
from geolin_ros.kernels.se3 import quaternion
from geolin_ros.linearization.contacts.description import SIZES, Contact
from geolin_ros.model.labels import Label, input_labels, state_labels
from geolin_ros.model.tree import TreeModel
from geolin_tools.export.casadi import casadi_functions
from geolin_tools.export.kernel_set import FUNCTIONS, kernels_of
from geolin_tools.export.machine_code import Kernel, object_code
from geolin_tools.export.robot import Robot
from geolin_tools.export.targets import Target

TEMPLATES = Path(__file__).parent / 'templates'
MORE = 'casadi', 'ros2'
_RESERVED = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8 char16 char32
    char8_t char16_t char32_t class compl complex concept const consteval constexpr constinit
    const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast
    else enum explicit export extern false final float for friend goto if imaginary import inline
    int long module mutable namespace new noexcept not not_eq nullptr operator or or_eq override
    private protected public register reinterpret_cast requires restrict return short signed
    sizeof static static_assert static_cast struct switch template this thread_local throw true
    try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile
    wchar wchar_t while xor xor_eq

    clock div dev errno fpos gid id ino int8 int16 int32 int64 intmax intptr key ldiv lldiv locale
    max_align mbstate mode nlink off pid ptrdiff quad sig_atomic sigset size ssize std time uid
    uint uint8 uint16 uint32 uint64 uintmax uintptr useconds va wctrans wctype wint

    linux main null unix c dl eigen geolin_msgs m pthread rt util

    contact_set level use

    all clean depend edit_cache help install list_install_components none package rebuild_cache
    test
"""
RESERVED = frozenset(_RESERVED.split())
"""Keywords of C and C++, types that end in _t, macros, libraries, targets of CMake and what the
library itself is made of."""
_BLOCK = re.compile(r'^//: (?!end)(\w+)\n(.*?)^//: end\n', re.MULTILINE | re.DOTALL)
_PLACE = re.compile(r'\{\{(\w+)\}\}')


def identifier_of(name: str) -> str:
    """Return a name as an identifier of C, in small letters."""
    word = re.sub(r'\W+', '_', name, flags=re.ASCII).strip('_').lower() or 'robot'
    return f'robot_{word}' if word[0].isdigit() or word in RESERVED else word


def check_identifier(name: str) -> str:
    """Return a name that functions, types, a namespace and a target of CMake may begin with.

    Raises
    ------
    ConfigurationError
        If it is no identifier of C, or means something else already.
    """
    if name in RESERVED or name.lower() in RESERVED:
        raise ConfigurationError(
            f'name is {name!r}, which C, C++, their libraries or CMake have for something else, '
            f'expected another one; for example robot_{name}'
        )
    if not re.fullmatch(r'[A-Za-z]\w*', name, re.ASCII):
        raise ConfigurationError(
            f'name is {name!r}, expected a letter, then letters, digits and _; for '
            f'example {identifier_of(name)}'
        )
    return name


def write_folder(
    robot: Robot,
    folder: Path,
    name: str,
    targets: Sequence[Target],
    functions: tuple[str, ...] = FUNCTIONS,
    progress: Callable[[Iterable[Target]], Iterable[Target]] = iter,
    more: tuple[str, ...] = (),
) -> None:
    """Write the library, all of it or nothing.

    Parameters
    ----------
    robot
        What to write.
    folder
        Where; it must not exist.
    name
        What files and functions begin with.
    targets
        Processors, best first.
    functions
        Some of `kernel_set.FUNCTIONS`.
    progress
        Gets the targets and returns them, counted.
    more
        Some of `MORE`: functions for CasADi, a component of ROS 2.

    Raises
    ------
    ConfigurationError
        If the folder exists, or a name, target or function cannot be used, or a component is to
        stand on balls.
    """
    check_identifier(name)
    if folder.exists() or folder.is_symlink():
        raise ConfigurationError(
            f'{folder} exists, expected a new folder; remove it, or choose another one'
        )
    kernels = kernels_of(robot, functions, 'casadi' in more)
    balls = [one for one in robot.contacts if isinstance(one, Support) and one.radius]
    if 'ros2' in more and balls:
        raise ConfigurationError(
            f'contact {balls[0].frame!r} is a ball of radius {balls[0].radius:g} m, expected a '
            f'point or a sole in a component of ROS 2, as in messages; say {balls[0].frame}:0'
        )
    files = _sources(robot, name, targets, (*functions, *more), kernels)
    for target in progress(targets):
        files[f'lib/{target.architecture}/{target.symbol}.o'] = object_code(
            kernels, target, f'{name}__'
        )
    draft = folder.with_name(f'.{folder.name}.{os.getpid()}')
    draft.mkdir(parents=True)
    try:
        for path, content in files.items():
            (draft / path).parent.mkdir(parents=True, exist_ok=True)
            (draft / path).write_bytes(content)
        os.rename(draft, folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _sources(
    robot: Robot,
    name: str,
    targets: Sequence[Target],
    functions: tuple[str, ...],
    kernels: Mapping[str, Kernel],
) -> dict[str, bytes]:
    """Return the texts by their paths."""
    words = {**_words(robot, name, targets), **_levels(name, targets, kernels)}
    blocks = {*functions} if 'ros2' in functions else {*functions, 'cmake'}
    blocks |= {'contacts' if robot.contacts else 'air'}
    blocks |= {'floating'} if robot.model.base == 'floating' else set()
    blocks |= {'wrenches'} if robot.wrenches else set()
    blocks |= {'dynamics'} if {'inverse_dynamics', 'mass_matrix'} & blocks else set()
    files = {}
    for template in sorted(TEMPLATES.rglob('*')):
        if any(f'.{part}.' in template.name and part not in blocks for part in MORE):
            continue
        if template.is_file() and '__pycache__' not in template.parts:
            text = _BLOCK.sub(lambda m: m[2] if m[1] in blocks else '', template.read_text())
            path = str(template.relative_to(TEMPLATES)).replace('name.', f'{name}.')
            files[path] = _PLACE.sub(lambda m: words[m[1]], text).encode()
    files['src/data.h'] = _data(robot, name, kernels).encode()
    return files


def _words(robot: Robot, name: str, targets: Sequence[Target]) -> dict[str, str]:
    """Return what stands in braces in the templates."""
    model = robot.model
    floating = model.base == 'floating'
    gravity = [float(g).hex() for g in model.gravity]
    return {
        'name': name,
        'NAME': name.upper(),
        'robot': re.sub(r'["\\*\r\n<&]', '_', model.name),
        'version': version('geolin_ros'),
        'hash': model.hash,
        'n': str(model.n),
        'm': str(model.m),
        'k': str(2 * model.m),
        'x': str(22 + 2 * model.n),
        'inputs': str(len(model.actuated_joints)),
        'contacts': str(len(robot.contacts)),
        'contact_rows': str(robot.contact_sets[-1].rows),
        'wrenches': str(len(robot.wrenches)),
        'floating': str(int(floating)),
        'plus6': ' + 6' if floating else ', the base is fixed',
        'fixed': '' if floating else '; zero: the base is fixed',
        'z': ', [H; s; v; r]' if floating else ', [s; r]',
        'nu_dot': 'the rate of v, then joint accelerations' if floating else 'joint accelerations',
        'memory': str(-(-(8 * (_room(robot) + 44 + 3 * model.n) + 512) // 64) * 64),
        'targets': ', '.join(target.name for target in targets),
        'architectures': ', '.join(sorted({target.architecture for target in targets})),
        'input_joints': ', '.join(map(str, [*np.arange(model.n)[model.actuated], -1])),
        'effort_scale': _numbers(*(model.effort_scale or [1.0] * model.n), 1.0),
        'effort_offset': _numbers(*(model.effort_offset or [0.0] * model.n), 0.0),
        'contact_states': '\n'.join(_contact_state(model, one) for one in robot.contacts),
        'casadi_functions': casadi_functions(robot),
        'rows_of_contacts': ', '.join(str(SIZES[one.kind]) for one in robot.contacts),
        'actuated': ', '.join(c_string(joint) for joint in model.actuated_joints),
        'gravity_x': gravity[0],
        'gravity_y': gravity[1],
        'gravity_z': gravity[2],
    }


def _contact_state(model: TreeModel, one: Contact | Support) -> str:
    """Return a contact as messages have it: names, kind, stiffness, damping and two poses."""
    contact = one.contact if isinstance(one, Support) else one
    link = model.body_names[model.frame(contact.frame).body]
    poses = []
    for pose in (contact.placement, contact.reference):
        H = None if pose is None else np.array(pose, dtype=np.float64, order='C')
        numbers = np.zeros(7) if H is None else np.concatenate((H[:3, 3], quaternion(H)))
        poses.append(f'{{{_numbers(*numbers)}}}')
    kind = 2 if contact.kind == 'surface' else 1
    values = c_string(contact.frame), c_string(link), str(kind), _numbers(contact.kp, contact.kd)
    return f'  {{{", ".join((*values, *poses))}}},'


def _sizes(robot: Robot) -> dict[str, int]:
    """Return the sizes of the memory of an instance, in numbers."""
    return {
        'WORK': robot.work,
        'INPUT_SIZE': robot.inputs.size,
        'OUT': max(one.out for one in robot.contact_sets),
        'WORK_OF_CONTACTS': max(one.work for one in robot.contact_sets),
        'STEP_WORK': robot.step_work,
        'STEP_LISTS': robot.step_lists,
    }


def _room(robot: Robot) -> int:
    """Return how many numbers these are, each part at the begin of a cache line."""
    sizes = _sizes(robot).values()
    return sum(sizes) + 8 * (len(sizes) + 1)


def _levels(name: str, targets: Sequence[Target], kernels: Mapping[str, Kernel]) -> dict[str, str]:
    """Return the table of levels, and what asks the processor."""
    asking, rows = [], []
    for architecture in sorted({target.architecture for target in targets}):
        if architecture == 'aarch64' or architecture == 'x86_64':
            asking.append(f'#if defined(__{architecture}__)')
            rows.append(f'#if defined(__{architecture}__)')
        for target in (t for t in targets if t.architecture == architecture):
            test = 'NULL'
            if target.asks:
                test = f'has_{target.symbol}'
                asked = ' && '.join(f'__builtin_cpu_supports("{what}")' for what in target.asks)
                asking.append(
                    f'static int {test}(void) {{\n  __builtin_cpu_init();\n  return {asked};\n}}'
                )
            codes = ', '.join(f'{name}__{kernel}_{target.symbol}' for kernel in kernels)
            rows.append(f'  {{"{target.name}", {test}, {codes}}},')
        if architecture == 'aarch64' or architecture == 'x86_64':
            asking.append('#endif')
            rows.append('#endif')
    declared = [
        f'int64_t {name}__{kernel}_{target.symbol}({code.prototype});'
        for target in targets
        for kernel, code in kernels.items()
    ]
    return {'supported': '\n'.join(declared + asking), 'levels': '\n'.join(rows)}


def _data(robot: Robot, name: str, kernels: Mapping[str, Kernel]) -> str:
    """Return the arrays of a robot as a header."""
    model, own = robot.model, robot.own
    limits = model.limits
    constants = {
        **_sizes(robot),
        'ROOM': 8 * _room(robot),
        'GIVEN': robot.given,
        'IS_PLAIN': int(robot.is_plain),
        'IS_TIED': int(robot.is_tied),
        'TREE_JOINTS': int(robot.packed.ints[layout.NB]) - 1,
        'WRENCH_RECORD': layout.WRENCH_RECORD,
        'WRENCH_VALUE': layout.WRENCH_VALUE,
        'STEP_ROWS': 2 * model.m + layout.ROW_BLOCK,
        'STEP_STRIDE': parts_of(np.zeros(robot.step_work), 2 * model.m).shape[2],
        'ROBOT_INTS': robot.packed.ints.size,
        'ROBOT_FLOATS': robot.packed.floats.size,
        'OWN_INTS': own.ints.size,
        'OWN_FLOATS': own.floats.size,
    }
    places = [f'{wrench.link}:{wrench.kind}' for wrench in robot.wrenches]
    lines = [
        '/* The robot, written by geolin export. */',
        *(f'#define {key} {value}' for key, value in constants.items()),
        '#define ROBOT robot_ints, ROBOT_INTS, robot_floats, ROBOT_FLOATS',
        '#define OWN own_ints, OWN_INTS, own_floats, OWN_FLOATS',
        f'#define MASTER(c) own_ints[own_ints[{own_layout.MASTERS}] + (c)]',
        '#define FACTOR(c) own_floats[c]',
        '#define OFFSET(c) own_floats[TREE_JOINTS + (c)]',
        'typedef struct {',
        '  const char *name;',
        '  int (*runs_here)(void);',
        *(f'  int64_t (*{kernel})({code.prototype});' for kernel, code in kernels.items()),
        '} level_t;',
        'typedef struct {',
        '  const int64_t *sites, *places;',
        '  const double *values;',
        '  int64_t size, filled, rows;',
        '} contact_set_t;',
        _array('int64_t', 'robot_ints', robot.packed.ints),
        _array('double', 'robot_floats', robot.packed.floats),
        _array('int64_t', 'own_ints', own.ints),
        _array('double', 'own_floats', own.floats),
        _array('double', 'work_header', robot.work_header),
        _array('double', 'first_inputs', robot.inputs),
        _array('double', 'wrench_maps', robot.wrench_maps),
    ]
    rows = []
    for k, one in enumerate(robot.contact_sets):
        lines.append(_array('int64_t', f'sites_{k}', one.sites))
        lines.append(_array('int64_t', f'places_{k}', one.places))
        lines.append(_array('double', f'values_{k}', one.values))
        sizes = f'{one.sites.size}, {one.places.size}, {one.rows}'
        rows.append(f'  {{sites_{k}, places_{k}, values_{k}, {sizes}}},')
    lines += ['static const contact_set_t contact_sets[] = {', *rows, '};']
    states: Sequence[Label] = state_labels(model)
    for what, texts in {
        'joint_names': model.joint_names,
        'input_names': [label.name.partition('.')[2] for label in input_labels(model)],
        'state_names': [label.name for label in states],
        'state_units': [label.unit for label in states],
        'contact_names': [contact.frame for contact in robot.contacts],
        'wrench_names': places,
    }.items():
        strings = ''.join(f'{c_string(text)}, ' for text in texts)
        lines.append(f'const char *const {name}_{what}[] = {{{strings}NULL}};')
    lines.append(f'const char *const {name}_base_link = {c_string(model.base_link)};')
    for what in ('lower', 'upper', 'velocity', 'effort'):
        lines.append(
            f'const double {name}_{what}[] = {{{_numbers(*getattr(limits, what), 0.0)}}};'
        )
    return '\n'.join(lines) + '\n'


def _array(kind: str, name: str, values: np.ndarray) -> str:
    """Return an array as C; one without entries gets one, which C asks for."""
    texts = [_number(value) for value in values.ravel()] or ['0']
    lines = [', '.join(texts[k : k + 8]) for k in range(0, len(texts), 8)]
    body = ',\n  '.join(lines)
    return f'static const {kind} {name}[] = {{\n  {body}\n}};'


def _numbers(*values: float) -> str:
    return ', '.join(map(_number, np.asarray(values)))


def _number(value: float) -> str:
    """Return a number as C reads it without rounding."""
    if isinstance(value, np.integer):
        return str(value)
    if not np.isfinite(value):
        return 'INFINITY' if value > 0.0 else '-INFINITY'
    return '0' if str(value) == '0.0' else float(value).hex()
