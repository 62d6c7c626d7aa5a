# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What [Nori] prints beyond the sparse system: Property 2, and a search for better orders."""
