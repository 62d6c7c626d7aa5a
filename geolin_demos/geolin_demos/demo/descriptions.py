# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""How others get to know a robot: by the URDF on the topic; nodes an MJCF file by its path.

Nodes take no MJCF from the network, because reading it opens files. Who draws the robot takes a
URDF of it, without its rotors and springs.
"""

from pathlib import Path

from geolin_tools.urdf_writer import text_of

from geolin_ros import mjcf
from geolin_ros.errors import UrdfError
from geolin_ros.stream.parameters.model_reading import to_text


def published(path: Path) -> str:
    """Return what a robot publishes as its description; nothing if no URDF can say it."""
    if not mjcf.is_mjcf(path):
        return to_text(path)
    try:
        return text_of(mjcf.read(path).description, mjcf.read_shapes(path))
    except UrdfError:
        return ''


def file_parameter(path: Path) -> dict[str, str]:
    """Return the parameter of nodes that lets them read what is not published."""
    return {'robot_description_file': str(path.resolve())} if mjcf.is_mjcf(path) else {}
