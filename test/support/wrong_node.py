# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The linearization node with one entry of A that goes wrong: 1e-3 of its block, after a while."""

import sys

import numpy as np

from geolin_ros.stream import linearization_stream

RIGHT = 260
"""So many linearizations are right, and one check by default; those before the node serves do not
count.
"""

right_fill = linearization_stream.fill


def spoil(answer):
    """Change the entry of A in row v.z of the column of the third joint position."""
    m = answer.nu_dot.size
    answer.A = answer.A.copy()
    block = answer.A[m : m + 6, 6:m]
    block[2, 2] += 1e-3 * np.abs(block).max()


class WrongFill:
    """Fills answers, and spoils them after ``RIGHT`` of the stream's."""

    def __init__(self):
        self.count = -1  # the warm-up

    def __call__(self, answer, *arguments):
        """Take the place of `linearization_stream.fill`."""
        right_fill(answer, *arguments)
        self.count += 1
        if self.count > RIGHT:
            spoil(answer)


if __name__ == '__main__':
    linearization_stream.fill = WrongFill()
    from geolin_ros.ros.linearizer import main

    sys.exit(main())
