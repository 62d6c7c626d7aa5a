# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import json

import numpy as np
import pytest
from geolin_control.gain_file import load_bank
from support.bags import START, Messages, Sample, write_bag

from geolin_ros.cli import main
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.support import Support
from geolin_ros.offline.recording import Recording

FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')


@pytest.fixture(scope='module')
def squat_bag(robot, tmp_path_factory):
    """The quadruped goes down by 5 cm on its four feet, then lifts one for a moment."""
    model, text = robot
    supports = [Support(frame, radius=0.02) for frame in FEET]
    state = standing_posture(model, supports, height=0.33)
    samples = []
    for k in range(40):
        state = standing_posture(model, supports, start=state, height=0.33 - 0.05 * k / 39)
        samples.append(Sample(START + k * 20_000_000, state.copy(), np.zeros(model.n)))
    for k in range(40, 60):
        lifted = state.copy()
        lifted.s[[1, 2]] += 0.3, -0.6
        samples.append(Sample(START + k * 20_000_000, lifted, np.zeros(model.n)))
    path = tmp_path_factory.mktemp('squat') / 'bag'
    return write_bag(path, Messages(model).of_samples(samples), text)


def test_gains__are_for_the_contacts_and_postures_of_the_bag(squat_bag, robot, tmp_path, capsys):
    model, _ = robot
    out = tmp_path / 'gains.yaml'
    feet = ','.join(f'{frame}:0.02@0,0,0' for frame in FEET)
    command = ['gains', str(squat_bag), '-o', str(out), '--feet', feet, '--postures', '2']
    assert main([*command, '--tolerance', 'inf', '--json']) == 0
    found = json.loads(capsys.readouterr().out)['contact_sets']
    assert found[0]['contacts'] == [*FEET]
    assert found[0]['share'] == pytest.approx(40 / 60)
    assert found[0]['postures'] == 2
    assert sorted(found[1]['contacts']) == sorted(FEET[1:])
    bank = load_bank(out, model)
    route = bank.route(FEET)
    heights = [knot.state.H[2, 3] for knot in route.knots]
    assert heights[1] - heights[0] == pytest.approx(0.05, abs=2e-3)
    for knot in route.knots:
        assert knot.margin < 1.0  # stable in discrete time


def test_gains__are_for_the_feet_that_feel_a_force(squat_bag, robot, tmp_path, capsys):
    """All four stand still; one carries nothing."""
    model, text = robot
    messages, entries = Messages(model), []
    with Recording([squat_bag]) as recording:
        for role, time, message in list(recording.messages(['odom', 'joint_states']))[:80]:
            loads = [(foot, 50.0 if foot in FEET[1:] else 3.0) for foot in FEET]
            entries += [(f'forces/{foot}', time, messages.force(time, f)) for foot, f in loads]
            entries.append((role, time, message))
    bag = write_bag(tmp_path / 'bag', entries[4:], text)
    parameters = tmp_path / 'parameters.yaml'
    values = {
        'contact_source': 'forces',
        'contacts': [f'{foot} point' for foot in FEET],
        'foot_force_topics': [f'/forces/{foot} {foot}' for foot in FEET],
    }
    parameters.write_text(json.dumps({'/**': {'ros__parameters': values}}))
    command = ['gains', str(bag), '-o', str(tmp_path / 'gains.yaml'), '--params', str(parameters)]
    assert main([*command, '--postures', '1', '--json']) == 0
    (found,) = json.loads(capsys.readouterr().out)['contact_sets']
    assert sorted(found['contacts']) == sorted(FEET[1:])
    assert found['postures'] == 1


def test_no_feet__are_asked_for(squat_bag, bag, tmp_path, capsys):
    output = ['-o', str(tmp_path / 'gains.yaml')]
    assert main(['gains', str(squat_bag), *output]) == 1
    assert 'add --feet FRAME' in capsys.readouterr().err
    assert main(['gains', str(bag), *output, '--feet', 'base']) == 1
    assert 'stands on nothing' in capsys.readouterr().err
    assert main(['gains', str(bag), *output, '--feet', 'base', '--postures', '-1']) == 1
    assert '--postures is -1, expected 1 or more' in capsys.readouterr().err
    assert not (tmp_path / 'gains.yaml').exists()
