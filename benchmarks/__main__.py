# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All measurements: ``python -m benchmarks``."""

from benchmarks.single_state import main

main()
