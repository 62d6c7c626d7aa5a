# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables and figures of the papers, line by line: to be read beside them and to test against.

On the path of every program in ``examples``; installed with nothing.
"""
