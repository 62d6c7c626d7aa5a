# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What CasADi asks of its external functions: names and sizes of arguments and results, as C."""

from geolin_control.gain_header import c_string

from geolin_tools.export.robot import Robot


def casadi_functions(robot: Robot) -> str:
    """Return the functions of the library for CasADi, and of their Jacobians."""
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
