# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables 2 to 7 of [Kim 2012] as printed, line by line, with their misprints corrected.

Reference implementations to read beside the paper and to test the engine against: plain NumPy,
called by tests and readers alone. Numbers in the comments count the statements of a table, in
print without numbers, ``if`` and ``while`` left out; a statement over two lines of print is one.
Where a line differs from the paper it says so and names the entry of the list of errata in
docs/algorithms.md.

Six-vectors are [angular; linear], as in the paper, transforms (4, 4). A table fills in the
variables of the bodies, whose first is the ground {0}; see `Body`. Tables 5 to 7 need the results
of 2 to 4. Joints have any number of coordinates; a floating base is a joint of six with S = 1.
"""

from geolin_papers.kim_2012.body import Body, ground
from geolin_papers.kim_2012.forward_dynamics import forward_dynamics
from geolin_papers.kim_2012.forward_dynamics_derivative import (
    forward_dynamics_derivative,
)
from geolin_papers.kim_2012.hybrid_dynamics import hybrid_dynamics
from geolin_papers.kim_2012.hybrid_dynamics_derivative import (
    hybrid_dynamics_derivative,
)
from geolin_papers.kim_2012.inverse_dynamics import inverse_dynamics
from geolin_papers.kim_2012.inverse_dynamics_derivative import (
    inverse_dynamics_derivative,
)

__all__ = [
    'Body',
    'forward_dynamics',
    'forward_dynamics_derivative',
    'ground',
    'hybrid_dynamics',
    'hybrid_dynamics_derivative',
    'inverse_dynamics',
    'inverse_dynamics_derivative',
]
