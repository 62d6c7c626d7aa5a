# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How nodes get to know a robot: a URDF on the topic, an MJCF file by its path.

Nodes take no MJCF from the network, because reading it opens files.
"""

from pathlib import Path

from geolin_ros import mjcf
from geolin_ros.stream.parameters.model_reading import to_text


def published(path: Path) -> str:
    """Return what a robot publishes as its description, nothing for MJCF."""
    return '' if mjcf.is_mjcf(path) else to_text(path)


def file_parameter(path: Path) -> dict[str, str]:
    """Return the parameter of nodes that lets them read what is not published."""
    return {'robot_description_file': str(path.resolve())} if mjcf.is_mjcf(path) else {}
