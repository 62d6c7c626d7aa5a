# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin compare``: how far two runs or two models are apart."""

import argparse

from geolin_ros.cli._recordings import Progress, add_output_arguments, add_xacro_argument, show
from geolin_ros.robots import ROBOTS, locate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add('a', metavar='A', help='dataset of geolin linearize, URDF, xacro or a bundled robot')
    add('b', metavar='B', help='another dataset or robot to compare with')
    about = 'largest relative difference for exit status 0 (default: %(default)s)'
    add('--tolerance', type=float, default=1e-9, help=about)
    add_xacro_argument(parser)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print the differences; 1 if a quantity is further apart than the tolerance."""
    from geolin_tools.comparison import compare

    a, b = (str(locate(x)) if x in ROBOTS else x for x in (options.a, options.b))
    result = compare(a, b, Progress(options, ' quantities'))
    where = 'common samples' if result['kind'] == 'runs' else 'random states'
    lines = [f'two {result["kind"]}, {result["common"]} {where}']
    lines += [f'! {sentence}' for sentence in result['differences']]
    lines += [
        f'{name:9} largest difference {found["absolute"]:.3e}, '
        f'{found["relative"]:.3e} of the largest entry'
        for name, found in result['quantities'].items()
    ]
    show(options, result, '\n'.join(lines))
    apart = [found['relative'] for found in result['quantities'].values()]
    return int(not apart or max(apart) > options.tolerance)
