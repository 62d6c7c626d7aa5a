# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The sources of a C library: texts from templates, and the arrays of the robot."""

import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from geolin_control.gain_file import c_string

from geolin_ros.control.support import Support
from geolin_ros.errors import ConfigurationError
from geolin_ros.kernels.engine.exponential import parts_of
from geolin_ros.kernels.packing import layout, own_layout
from geolin_ros.kernels.se3 import quaternion
from geolin_ros.linearization.contacts.description import SIZES, Contact
from geolin_ros.model.labels import input_labels, state_labels
from geolin_ros.model.tree import TreeModel
from geolin_tools.export.machine_code import Kernel, Target
from geolin_tools.export.robot import Robot

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


def check_identifier(name: str) -> None:
    """Check that functions, types, a namespace and a target of CMake may begin with a name.

    Raises `ConfigurationError` if it is no identifier of C, or means something else already.
    """
    if name.lower() in RESERVED or not re.fullmatch(r'[A-Za-z]\w*', name, re.ASCII):
        raise ConfigurationError(
            f'name is {name!r}, expected a letter, then letters, digits and _, and no word that '
            'C, C++, their libraries or CMake have for something else; for example '
            f'{identifier_of(name)}'
        )


def sources(
    robot: Robot,
    name: str,
    targets: Sequence[Target],
    parts: tuple[str, ...],
    kernels: Mapping[str, Kernel],
) -> dict[str, bytes]:
    """Return the texts of a library by their paths.

    ``parts`` are some of `FUNCTIONS` and `MORE`: functions for CasADi, a component of ROS 2.
    """
    words = {**_words(robot, name, targets), **_levels(name, targets, kernels)}
    blocks = {*parts, 'contacts' if robot.contacts else 'air'}
    for part, is_there in (
        ('cmake', 'ros2' not in parts),
        ('floating', robot.model.base == 'floating'),
        ('wrenches', robot.wrenches),
        ('dynamics', {'inverse_dynamics', 'mass_matrix'} & blocks),
    ):
        blocks |= {part} if is_there else set()
    files = {}
    for template in sorted(TEMPLATES.rglob('*')):
        if any(f'.{part}.' in template.name and part not in blocks for part in MORE):
            continue
        if template.is_file() and '__pycache__' not in template.parts:
            text = _BLOCK.sub(lambda m: m[2] if m[1] in blocks else '', template.read_text())
            path = str(template.relative_to(TEMPLATES)).replace('name.', f'{name}.')
            files[path] = _PLACE.sub(lambda m: words[m[1]], text).encode()
    files['src/data.h'] = _data(robot, name).encode()
    return files


def _words(robot: Robot, name: str, targets: Sequence[Target]) -> dict[str, str]:
    """Return what stands in braces in the templates."""
    model = robot.model
    floating = model.base == 'floating'
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
        'casadi_functions': _casadi_functions(robot),
        'rows_of_contacts': ', '.join(str(SIZES[one.kind]) for one in robot.contacts),
        'actuated': ', '.join(c_string(joint) for joint in model.actuated_joints),
        **{f'gravity_{x}': float(g).hex() for x, g in zip('xyz', model.gravity, strict=True)},
    }


def _contact_state(model: TreeModel, one: Contact | Support) -> str:
    """Return a contact as messages have it: names, kind, kp, kd and two poses."""
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
    work, lists = robot.step
    return {
        'WORK': robot.workspace.size,
        'INPUT_SIZE': robot.inputs.size,
        'OUT': max(one.out for one in robot.contact_sets),
        'WORK_OF_CONTACTS': max(one.work.size for one in robot.contact_sets),
        'STEP_WORK': work.size,
        'STEP_LISTS': lists.size,
    }


def _room(robot: Robot) -> int:
    """Return how many numbers these are, each part at the begin of a cache line."""
    sizes = _sizes(robot).values()
    return sum(sizes) + 8 * (len(sizes) + 1)


def _levels(name: str, targets: Sequence[Target], kernels: Mapping[str, Kernel]) -> dict[str, str]:
    """Return the table of levels, and what asks the processor."""
    asking, rows = [], []
    for target in targets:
        is_known = target.architecture in ('aarch64', 'x86_64')
        before = [f'#if defined(__{target.architecture}__)'] * is_known
        after = ['#endif'] * is_known
        test = f'has_{target.symbol}' if target.asks else 'NULL'
        if target.asks:
            asked = ' && '.join(f'__builtin_cpu_supports("{what}")' for what in target.asks)
            text = f'static int {test}(void) {{\n  __builtin_cpu_init();\n  return {asked};\n}}'
            asking += [*before, text, *after]
        codes = ', '.join(f'{name}__{kernel}_{target.symbol}' for kernel in kernels)
        rows += [*before, f'  {{"{target.name}", {test}, {codes}}},', *after]
    declared = [
        f'int64_t {name}__{kernel}_{target.symbol}({code.prototype});'
        for target in targets
        for kernel, code in kernels.items()
    ]
    pointers = (f'  int64_t (*{kernel})({code.prototype});' for kernel, code in kernels.items())
    texts = {'supported': declared + asking, 'levels': rows, 'kernels': pointers}
    return {word: '\n'.join(lines) for word, lines in texts.items()}


def _data(robot: Robot, name: str) -> str:
    """Return the arrays of a robot as a header."""
    model, own = robot.model, robot.own
    constants = {
        **_sizes(robot),
        'ROOM': 8 * _room(robot),
        'GIVEN': robot.inputs.size - layout.WRENCH_RECORD * (model.base == 'floating'),
        'IS_PLAIN': int(own.is_all),
        'IS_TIED': int(len(robot.packed.mimics.bodies) > 0),
        'TREE_JOINTS': int(robot.packed.ints[layout.NB]) - 1,
        'WRENCH_RECORD': layout.WRENCH_RECORD,
        'WRENCH_VALUE': layout.WRENCH_VALUE,
        'STEP_ROWS': 2 * model.m + layout.ROW_BLOCK,
        'STEP_STRIDE': parts_of(robot.step[0], 2 * model.m).shape[2],
        'ROBOT_INTS': robot.packed.ints.size,
        'ROBOT_FLOATS': robot.packed.floats.size,
        'OWN_INTS': own.ints.size,
        'OWN_FLOATS': own.floats.size,
        'MASTERS': own_layout.MASTERS,
    }
    arrays = {
        'robot_ints': robot.packed.ints,
        'robot_floats': robot.packed.floats,
        'own_ints': own.ints,
        'own_floats': own.floats,
        'work_header': robot.workspace[: layout.WORK_HEADER],
        'first_inputs': robot.inputs,
        'wrench_maps': robot.wrench_maps,
    }
    rows = []
    for k, one in enumerate(robot.contact_sets):
        places = np.flatnonzero(one.work)  # where memory is not zero at first
        arrays |= {f'sites_{k}': one.sites, f'places_{k}': places, f'values_{k}': one.work[places]}
        sizes = f'{one.sites.size}, {places.size}, {one.rows}'
        rows.append(f'  {{sites_{k}, places_{k}, values_{k}, {sizes}}},')
    labels, limits = state_labels(model), model.limits
    strings = {
        'joint_names': model.joint_names,
        'input_names': [label.name.partition('.')[2] for label in input_labels(model)],
        'state_names': [label.name for label in labels],
        'state_units': [label.unit for label in labels],
        'contact_names': [contact.frame for contact in robot.contacts],
        'wrench_names': [f'{wrench.link}:{wrench.kind}' for wrench in robot.wrenches],
    }
    lines = [
        '/* The robot, written by geolin export. */',
        *(f'#define {key} {value}' for key, value in constants.items()),
        *(_array(array, values) for array, values in arrays.items()),
        'static const contact_set_t contact_sets[] = {',
        *rows,
        '};',
    ]
    for what, texts in strings.items():
        entries = ''.join(f'{c_string(text)}, ' for text in texts)
        lines.append(f'const char *const {name}_{what}[] = {{{entries}NULL}};')
    lines.append(f'const char *const {name}_base_link = {c_string(model.base_link)};')
    for what in ('lower', 'upper', 'velocity', 'effort'):
        numbers = _numbers(*getattr(limits, what), 0.0)
        lines.append(f'const double {name}_{what}[] = {{{numbers}}};')
    return '\n'.join(lines) + '\n'


def _array(name: str, values: np.ndarray) -> str:
    """Return an array as C; one without entries gets one, which C asks for."""
    kind = 'int64_t' if values.dtype == np.int64 else 'double'
    texts = [_number(value) for value in values.ravel()] or ['0']
    body = ',\n  '.join(', '.join(texts[k : k + 8]) for k in range(0, len(texts), 8))
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


def _casadi_functions(robot: Robot) -> str:
    """Return the functions for CasADi and their Jacobians, with sizes of what goes in and out."""
    model = robot.model
    is_floating = model.base == 'floating'
    x, inputs, states = 2 * model.n + 13 * is_floating, len(model.actuated_joints), 2 * model.m
    sizes = {'x': x, 'next_x': x, 'tau': inputs, 'nu_dot': model.m, 'efforts': model.m, 'dt': 1}
    sizes |= {'pose': 7, 'other': 7, 'moved': 7, 'z': 6}
    sizes |= {'in_force': len(robot.contacts), 'forces': robot.contact_sets[-1].rows}
    functions = {
        'fd': ('x tau', 'nu_dot'),
        'inverse_dynamics': ('x nu_dot', 'efforts'),
        'step': (f'x tau dt{" in_force" * bool(robot.contacts)}', 'next_x'),
    }
    if robot.contacts:
        functions['contact_fd'] = 'x tau in_force', 'nu_dot forces'
    if is_floating:
        functions |= {'displace': ('pose z', 'moved'), 'difference': ('pose other', 'z')}
    given = {'x': (x, 1), 'tau': (inputs, 1)}
    lines = _function('linearization', given, {'A': (states, states), 'B': (states, inputs)})
    for name, words in functions.items():
        ins, outs = ({word: (sizes[word], 1) for word in each.split()} for each in words)
        lines += _function(name, ins, outs)
        nominal = {f'out_{word}': size for word, size in outs.items()}
        slopes = {f'jac_{row}_{word}': (sizes[row], sizes[word]) for row in outs for word in ins}
        lines += _function(f'jac_{name}', ins | nominal, slopes)
    return '\n'.join(lines)


def _function(
    name: str, ins: dict[str, tuple[int, int]], outs: dict[str, tuple[int, int]]
) -> list[str]:
    """Return names, sizes and definition; derivatives by in_force have no entries."""
    lines = []
    for side, ports in (('in', ins), ('out', outs)):
        names, sizes = ', '.join(map(c_string, ports)), []
        for k, (word, (rows, columns)) in enumerate(ports.items()):
            is_empty = word.startswith('jac_') and word.endswith('_in_force')
            numbers = (rows, columns, *([0] * (columns + 1) if is_empty else [1]))
            values = ', '.join(map(str, numbers))
            lines.append(f'static const casadi_int {name}_{side}_{k}[] = {{{values}}};')
            sizes.append(f'{name}_{side}_{k}')
        lines += [
            f'static const char *const {name}_{side}s[] = {{{names}}};',
            f'static const casadi_int *const {name}_{side}_sizes[] = {{{", ".join(sizes)}}};',
        ]
    return [*lines, f'FUNCTION({name})']
