# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every legged robot of the example-robot-data wheel, its feet, and what must come of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

UNITREE = 'FL_foot FR_foot RL_foot RR_foot'
ANYMAL = 'LF_FOOT RF_FOOT LH_FOOT RH_FOOT'
SOLO = 'FL_FOOT FR_FOOT HL_FOOT HR_FOOT'
TALOS = 'left_sole_link right_sole_link'
G1 = 'left_ankle_roll_link right_ankle_roll_link'
POINTS, SOLES = ('4 feet', '4 - 3 - 4 feet'), ('2 soles', '1 sole', 'squat 0.35 Hz')
NO_SHAPE = {'refused': 'do not tell what foot'}


@dataclass(frozen=True)
class Legged:
    """A robot, and what must come of it.

    Attributes
    ----------
    path
        Below the folder of the robots.
    feet
        As `geolin analyze-modes --contacts` takes them, blanks between them.
    stands, falls
        Cases of `make balance` by what the robot does under LQR.
    infeasible
        Cases that it cannot do, with a pattern of the sentence that says why.
    refused
        Pattern of the sentence by which both commands end; empty: they do not.
    effort_limit
        Of its motors [N m], where the URDF's is made up.
    """

    path: str
    feet: str
    stands: tuple[str, ...] = ()
    falls: tuple[str, ...] = ()
    infeasible: dict[str, str] = field(default_factory=dict)
    refused: str = ''
    effort_limit: float | None = None

    @property
    def name(self) -> str:
        """What it is called here."""
        folder, *_, file = self.path.split('/')
        return f'{folder.removesuffix("_description")}/{file.removesuffix(".urdf")}'


def of_folder(
    folder: str, files: str, feet: str, stands: tuple[str, ...] = (), **options: object
) -> Iterator[Legged]:
    """Yield the robots of a folder that stand on the same feet, with the same results."""
    for file in files.split():
        yield Legged(f'{folder}/{file}.urdf', feet, stands, **options)


LEGGED = (
    *of_folder('a1_description/urdf', 'a1', UNITREE, POINTS),
    *of_folder('anymal_b_simple_description/robots', 'anymal anymal-kinova', ANYMAL, POINTS),
    *of_folder('anymal_c_simple_description/urdf', 'anymal', ANYMAL, POINTS),
    *of_folder('b1_description/urdf', 'b1 b1-z1', UNITREE, POINTS),
    *of_folder('go1_description/urdf', 'go1', UNITREE, POINTS),
    *of_folder('go2_description/urdf', 'go2', UNITREE, POINTS),
    *of_folder(
        'hyq_description/robots', 'hyq_no_sensors', 'lf_foot rf_foot lh_foot rh_foot', POINTS
    ),
    *of_folder('laikago_description/urdf', 'laikago', UNITREE, POINTS),
    *of_folder(
        *('quadruped_description/urdf', 'quadruped'),
        *('FL_contact FR_contact BL_contact BR_contact', POINTS[:1]),
        infeasible={POINTS[1]: "no posture of robot 'quadroped' found"},
    ),
    *of_folder(
        *('solo_description/robots', 'solo', SOLO, POINTS[:1]),
        infeasible={POINTS[1]: "no posture of robot 'solo' found"},
        effort_limit=2.7,
    ),
    *of_folder('solo_description/robots', 'solo12', SOLO, POINTS, effort_limit=2.7),
    *of_folder(
        *('centauro_description/urdf', 'centauro', 'contact_1 contact_2 contact_3 contact_4'),
        **NO_SHAPE,
    ),
    *of_folder(
        *('bolt_description/robots', 'bolt', 'FL_FOOT FR_FOOT'),
        infeasible={'2 feet': 'points on a line, and no force of the ground catches a fall'},
    ),
    *of_folder(
        *('alexander_description/urdf', 'alexander_v1.lowerBodyOnly', 'LEFT_FOOT RIGHT_FOOT'),
        stands=SOLES,
    ),
    *of_folder('g1_description/urdf', 'g1_29dof_rev_1_0 g1_29dof_with_hand_rev_1_0', G1, SOLES),
    *of_folder('human_description/robots', 'human', 'left_foot right_foot', **NO_SHAPE),
    *of_folder('icub_description/robots', 'icub icub_reduced', 'l_sole r_sole', falls=SOLES),
    *of_folder(
        *('romeo_description/urdf', 'romeo', 'l_sole r_sole'),
        infeasible=dict.fromkeys(SOLES, "joint 'LHand' .* has effort limit 0.0"),
    ),
    *of_folder(
        *('romeo_description/urdf', 'romeo_small', 'l_sole r_sole', SOLES[:2]),
        infeasible={SOLES[2]: 'm high at best'},
    ),
    *of_folder('romeo_description/urdf', 'romeo_laas_small', 'l_sole r_sole', **NO_SHAPE),
    *of_folder(
        *('simple_humanoid_description/urdf', 'simple_humanoid simple_humanoid_classical'),
        *('l_ankle r_ankle',),
        **NO_SHAPE,
    ),
    *of_folder(
        'talos_data/robots',
        'talos_reduced talos_reduced_box talos_reduced_corrected talos_full_v2 talos_full_v2_box',
        TALOS,
        SOLES,
    ),
)
