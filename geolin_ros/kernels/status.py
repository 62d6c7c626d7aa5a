# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a kernel returns: `OK`, `SINGULAR` + the first velocity without inertia, or why not.

Velocities count 0..5 for the base and 6 + c for joint coordinate c. `REDUNDANT`: contacts that
depend on each other, so that the kernel has to be given independent combinations of their rows.
`NOT_A_STATE`: H holds no rotation, or a fixed base has a twist.
"""

OK = 0
NOT_FINITE = -1
REDUNDANT = -2
NOT_A_STATE = -3
SINGULAR = 1
