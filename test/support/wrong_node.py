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

right_linearize = linearization_stream.linearize


def spoiled(answer):
    """Return an answer with another entry of A in row v.z, column of the third joint position."""
    m, A = answer.nu_dot.size, answer.A.copy()
    block = A[m : m + 6, 6:m]
    block[2, 2] += 1e-3 * np.abs(block).max()
    return answer._replace(A=A)


class WrongLinearize:
    """Linearizes, and spoils answers after ``RIGHT`` of the stream's."""

    def __init__(self):
        self.count = -1  # the warm-up

    def __call__(self, *arguments):
        """Take the place of `linearization_stream.linearize`."""
        answer = right_linearize(*arguments)
        self.count += 1
        return spoiled(answer) if self.count > RIGHT else answer


if __name__ == '__main__':
    linearization_stream.linearize = WrongLinearize()
    from geolin_ros.ros.linearizer import main

    sys.exit(main())
