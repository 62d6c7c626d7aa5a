# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A page in the browser about a robot: in 3D, with A and B, eigenvalues, modes and contacts.

Only this room imports viser and plotly, the extra `view`.
"""
