# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every legged robot of the example-robot-data wheel, its feet, and what must come of it."""

from dataclasses import dataclass, field

UNITREE = 'FL_foot FR_foot RL_foot RR_foot'
ANYMAL = 'LF_FOOT RF_FOOT LH_FOOT RH_FOOT'
SOLO = 'FL_FOOT FR_FOOT HL_FOOT HR_FOOT'
TALOS = 'left_sole_link right_sole_link'
G1 = 'left_ankle_roll_link right_ankle_roll_link'
POINTS, SOLES = ('4 feet', '4 - 3 - 4 feet'), ('2 soles', '1 sole', 'squat 0.35 Hz')
NO_SHAPE = 'do not tell what foot'


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


LEGGED = (
    Legged('a1_description/urdf/a1.urdf', UNITREE, POINTS),
    Legged('anymal_b_simple_description/robots/anymal.urdf', ANYMAL, POINTS),
    Legged('anymal_b_simple_description/robots/anymal-kinova.urdf', ANYMAL, POINTS),
    Legged('anymal_c_simple_description/urdf/anymal.urdf', ANYMAL, POINTS),
    Legged('b1_description/urdf/b1.urdf', UNITREE, POINTS),
    Legged('b1_description/urdf/b1-z1.urdf', UNITREE, POINTS),
    Legged('go1_description/urdf/go1.urdf', UNITREE, POINTS),
    Legged('go2_description/urdf/go2.urdf', UNITREE, POINTS),
    Legged(
        'hyq_description/robots/hyq_no_sensors.urdf', 'lf_foot rf_foot lh_foot rh_foot', POINTS
    ),
    Legged('laikago_description/urdf/laikago.urdf', UNITREE, POINTS),
    Legged(
        'quadruped_description/urdf/quadruped.urdf',
        'FL_contact FR_contact BL_contact BR_contact',
        POINTS[:1],
        infeasible={POINTS[1]: "no posture of robot 'quadroped' found"},
    ),
    Legged(
        'solo_description/robots/solo.urdf',
        SOLO,
        POINTS[:1],
        infeasible={POINTS[1]: "no posture of robot 'solo' found"},
        effort_limit=2.7,
    ),
    Legged('solo_description/robots/solo12.urdf', SOLO, POINTS, effort_limit=2.7),
    Legged(
        'centauro_description/urdf/centauro.urdf',
        'contact_1 contact_2 contact_3 contact_4',
        refused=NO_SHAPE,
    ),
    Legged(
        'bolt_description/robots/bolt.urdf',
        'FL_FOOT FR_FOOT',
        infeasible={'2 feet': 'points on a line, and no force of the ground catches a fall'},
    ),
    Legged(
        'alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf', 'LEFT_FOOT RIGHT_FOOT', SOLES
    ),
    Legged('g1_description/urdf/g1_29dof_rev_1_0.urdf', G1, SOLES),
    Legged('g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf', G1, SOLES),
    Legged('human_description/robots/human.urdf', 'left_foot right_foot', refused=NO_SHAPE),
    Legged(
        'icub_description/robots/icub.urdf',
        'l_sole r_sole',
        (),
        SOLES,
    ),
    Legged(
        'icub_description/robots/icub_reduced.urdf',
        'l_sole r_sole',
        (),
        SOLES,
    ),
    Legged(
        'romeo_description/urdf/romeo.urdf',
        'l_sole r_sole',
        infeasible=dict.fromkeys(SOLES, "joint 'LHand' .* has effort limit 0.0"),
    ),
    Legged(
        'romeo_description/urdf/romeo_small.urdf',
        'l_sole r_sole',
        SOLES[:2],
        infeasible={SOLES[2]: 'm high at best'},
    ),
    Legged(
        'romeo_description/urdf/romeo_laas_small.urdf',
        'l_sole r_sole',
        refused=NO_SHAPE,
    ),
    Legged(
        'simple_humanoid_description/urdf/simple_humanoid.urdf',
        'l_ankle r_ankle',
        refused=NO_SHAPE,
    ),
    Legged(
        'simple_humanoid_description/urdf/simple_humanoid_classical.urdf',
        'l_ankle r_ankle',
        refused=NO_SHAPE,
    ),
    Legged('talos_data/robots/talos_reduced.urdf', TALOS, SOLES),
    Legged('talos_data/robots/talos_reduced_box.urdf', TALOS, SOLES),
    Legged('talos_data/robots/talos_reduced_corrected.urdf', TALOS, SOLES),
    Legged('talos_data/robots/talos_full_v2.urdf', TALOS, SOLES),
    Legged('talos_data/robots/talos_full_v2_box.urdf', TALOS, SOLES),
)
