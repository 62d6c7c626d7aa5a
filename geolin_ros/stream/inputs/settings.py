# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a stream does with its inputs; the node's parameters of the same names fill it."""

from dataclasses import dataclass, field
from typing import Literal

from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.about import Reference
from geolin_ros.spatial.frames import Representation
from geolin_ros.stream.contacts import ContactSettings
from geolin_ros.stream.inputs.wrench_input import MissingWrench, WrenchTopic

TwistFrame = Literal['child', 'world']
"""Axes of the odometry twist: of child_frame_id, which nav_msgs/Odometry defines, or of the world,
about the origin of the child frame."""
Form = Literal['continuous', 'discrete']


@dataclass(frozen=True)
class StreamSettings:
    """See the parameter table of the node for meanings, units and bounds."""

    base_source: Literal['odometry', 'tf'] = 'odometry'
    frame_prefix: str = ''
    twist_frame: TwistFrame = 'child'
    child_frame: str = ''
    quaternion_tolerance: float = 0.01
    tf_world_frame: str = 'odom'
    tf_velocity_cutoff: float = 10.0
    pairing: Literal['newest', 'interpolate'] = 'newest'
    max_skew: float = 0.05
    max_wait: float = 0.0
    joint_states_in_parts: bool = False
    torque_source: Literal['effort', 'zero', 'topic', 'inverse_dynamics'] = 'effort'
    nu_dot: Literal['predicted', 'measured', 'zero'] = 'predicted'
    nu_dot_cutoff: float = 20.0
    wrench_topics: tuple[WrenchTopic, ...] = ()
    wrench_timeout: float = 0.1
    missing_wrench: MissingWrench = 'drop'
    contacts: ContactSettings = field(default_factory=ContactSettings)
    trigger: Literal['joint_states', 'timer'] = 'joint_states'
    timer_rate: float = 200.0
    max_rate: float = 0.0
    form: Form = 'continuous'
    dt: float = 0.002
    method: Literal['midpoint', 'euler', 'zoh', 'rkmk4'] = 'midpoint'
    reference: Reference = 'moving'
    representation: Representation = 'body'
    mass_matrix: bool = False
    service_rate: int = 100
    service_size: int = 16
    service_budget: float = 0.1
    certificate_every: int = 250
    certificate_budget: float = 0.02

    @property
    def force_topics(self) -> tuple[str, ...]:
        """Topics of external wrenches and foot forces."""
        feet = self.contacts.measured_feet
        return (*(wrench.topic for wrench in self.wrench_topics), *(foot.topic for foot in feet))

    def __post_init__(self) -> None:
        if not self.contacts.are_expected:
            return
        if self.contacts.source == 'efforts':
            raise ConfigurationError(
                "contacts have source 'efforts', which only the state estimator knows; expected "
                "'parameter', 'topic' or 'forces': let it publish them, and take its topic"
            )
        feet = {foot.topic for foot in self.contacts.measured_feet}
        in_contact = {contact.frame for contact in self.contacts.contacts}
        for topic in self.wrench_topics:
            if topic.topic in feet:
                raise ConfigurationError(
                    f'topic {topic.topic!r} stands in wrench_topics and in foot_force_topics: '
                    'its force would be external and of a contact; take it out of one of them'
                )
            if topic.link in in_contact:
                raise ConfigurationError(
                    f'wrench_topics holds {topic.topic!r} about link {topic.link!r}, which is a '
                    'contact: its force would count twice; take out one of them'
                )
