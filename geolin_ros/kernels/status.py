# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a kernel returns: `OK`, `NOT_FINITE`, or `SINGULAR` + the first velocity without inertia.

Velocities count 0..5 for the base and 6 + c for joint coordinate c. `REDUNDANT`: contacts that
depend on each other, so that the kernel has to be given independent combinations of their rows.
"""

OK = 0
NOT_FINITE = -1
REDUNDANT = -2
SINGULAR = 1
