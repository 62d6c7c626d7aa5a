# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots that walk in MuJoCo, and the parts that make them."""

import re
import subprocess
import sys
from functools import partial
from itertools import groupby

import numpy as np
import pytest
from geolin_control.stages import StageProblem
from geolin_walking.cones import Cones
from geolin_walking.gait import Phase
from geolin_walking.reference import Command, Legs
from geolin_walking.walker import RECURSIONS, walker_for
from geolin_walking.walking_stream import WALKING_TABLE, WalkingStream
from support.messages import SECOND, twist
from support.stage_problems import by_piqp, cost
from support.taking import Source, dropped, take

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.support import Support
from geolin_ros.dynamics.kinematics import Kinematics, Points
from geolin_ros.errors import ConfigurationError
from geolin_ros.stream.topic_stream import Cause, Counts

mujoco = pytest.importorskip('mujoco')

from geolin_demos.sim.simulator import Simulator, push_of  # noqa: E402
from geolin_demos.sim.world import Floor  # noqa: E402
from geolin_demos.walk.course import Course, in_process, prepare, walk  # noqa: E402

from benchmarks import walk_bars as bars  # noqa: E402
from benchmarks import walk_compare as compare  # noqa: E402
from benchmarks.walk_rivals import TUNINGS  # noqa: E402
from benchmarks.walk_senses import STANDS  # noqa: E402

FEET = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]
ROTORS = {'joints': {'*': {'rotor_inertia': 0.01, 'gear_ratio': 1.0}}}


def simulated(name, feet, *floor):
    path = robots.path(name)
    return Simulator(path, TreeModel.from_urdf(path, overlay=ROTORS), feet, *floor)


QUADRUPED, HUMANOID = ('quadruped', FEET), ('humanoid', ['left_foot', 'right_foot'])


@pytest.mark.parametrize(
    ('robot', 'command', 'push', 'duration', 'mean', 'off', 'tilt'),
    [
        (QUADRUPED, (0.5,), None, 2.5, (0.8, 2.5), 0.03, 0.5),
        (QUADRUPED, (0.0, 0.2, 0.6), (0.1, 2.0, 0.6), 2.5, (1.5, 2.5), 0.08, 20.0),
        (HUMANOID, (0.2,), (0.03, 1.0, 2.95), 4.5, (1.24, 2.92), 0.05, 10.0),  # four steps
    ],
)
def test_robot__walks_as_it_is_told(robot, command, push, duration, mean, off, tilt):
    """Forwards, turning sideways under a push, on two feet under a push."""
    simulator, asked, course = simulated(*robot), Command(*command), Course()
    if push:
        simulator.pushes = [push_of(*push, simulator.model.total_mass)]
    answers = walk(simulator, in_process(prepare(simulator)), lambda _: asked, duration, course)
    plans = [answer.plan for answer in answers]
    assert course.fallen is None
    expected = np.pad(command, (0, 3 - len(command)))
    assert np.abs(course.mean_velocity(*mean) - expected).max() < off
    assert np.degrees(max(course.tilts)) < tilt
    if push is None:
        assert course.violation < 0.03
        in_air = ''.join('.' if 'FL_foot' in plan.in_force[0] else 'x' for plan in plans[40:])
        assert max(map(len, in_air.split('.'))) <= 10  # ticks: feet land when they are planned to
    elif robot is QUADRUPED:
        assert np.degrees(max(course.tilts)) > 0.4


def test_quadruped__bears_bars_that_are_kept_and_not_run_again(tmp_path, capsys):
    table, kept = tmp_path / 'table.md', tmp_path / 'kept.json'
    arguments = ['--seconds', '2.4', '--table', str(table), '--kept', str(kept), '--cases']
    for case in ('all of it, pushes by two thirds', 'odometry'):
        assert bars.main([*arguments, case]) == 0, capsys.readouterr().out
    lines = table.read_text().splitlines()
    assert lines[0].startswith('2 of 2 cases pass.')
    assert [line.split(' | ')[1:3] for line in lines[4:]] == [
        ['odometry', 'yes'],
        ['all of it, pushes by two thirds', 'yes'],
    ]
    vx, tilt = (float(re.findall(r'[\d.]+', lines[4].split(' | ')[k])[0]) for k in (3, 6))
    assert abs(vx - 0.5) < 0.05
    assert tilt < 5.0
    kept.write_text(kept.read_text().replace('true', 'false'))
    assert bars.main([*arguments, 'odometry']) == 1  # as it is kept


@pytest.mark.parametrize('rival', [compare.by_rigid_body, compare.by_playback])
def test_rival__trots_too_and_a_push_fells_it(rival):
    knobs = TUNINGS[:1] if rival is compare.by_rigid_body else ()
    simulator, make = simulated(*QUADRUPED), partial(rival, *knobs)
    steps, course = compare.begun(simulator, make, STANDS + 1.3)
    assert course.fallen is None
    found = course.mean_velocity(STANDS + 0.8, STANDS + 1.28)
    assert np.abs(found - [0.5, 0.0, 0.0]).max() < 0.08
    assert np.degrees(max(course.tilts)) < 4.0
    where = simulator.state.data.copy()
    push = push_of(1.0, 0.4, STANDS + 1.3, simulator.model.total_mass)
    assert not compare._bears(simulator, steps, course, push)
    np.testing.assert_array_equal(simulator.state.data, where)  # another process fell


@pytest.mark.parametrize('floor', [Floor(slope=0.1), Floor(step=0.02)])
def test_floor__rises_and_has_steps_that_feet_touch(floor):
    simulator = simulated(*QUADRUPED, floor)
    state, height = prepare(simulator).planner.posture.copy(), 0.1 if floor.slope else 0.02
    state.H[:3, 3] += [1.0, 0.0, height + 0.03]
    simulator.reset(state)
    while not any(np.any(w) for w in simulator.wrenches().values()) and simulator.time < 0.3:
        simulator.advance(np.zeros(12), 0.001)
    at = Kinematics(simulator.model, simulator.state)
    pressed = [f for f, w in simulator.wrenches().items() if np.any(w)]
    assert pressed
    for frame in pressed:
        p = at.pose(frame)[:3, 3]
        ground = np.tan(floor.slope) * p[0] + (0.02 if floor.step and 0.8 < p[0] < 1.3 else 0.0)
        assert abs((p[2] - ground) * np.cos(floor.slope) - 0.02) < 2e-3


@pytest.mark.parametrize('down', [7, 12])
def test_contact__ends_a_swing_early_or_prolongs_it_until_it_comes(down):
    """Of a robot that stands where it stood, commanded to go."""
    model = TreeModel.from_urdf(robots.path('quadruped'))
    supports = [Support(foot) for foot in FEET]
    planner = walker_for(model, supports, standing_posture(model, supports)).planner
    swing, first = None, []
    for tick in range(24):
        if swing is None and planner.schedule.swings[:1]:
            swing, following = planner.schedule.swings[:2]
            lift, planned_lift = swing.lift, following.lift
        in_air = [k in swing.group for k in range(4)] if swing is not None else [False] * 4
        touching = [not air or tick < lift or tick >= lift + down for air in in_air]
        found = planner(0.02 * tick, planner.posture, touching, Command(0.5))
        first.append('FL_foot' in found.in_force[0])
        if swing is not None and not first[-1]:
            landing = found.p[:, 0, 2].min()
    # ten ticks are planned: seven are an early touch, twelve a late one
    assert (len(first) - sum(first), swing.land - lift) == (down, down)
    assert following.lift - planned_lift == max(0, down - 10)
    if down > 10:  # it goes down further, in search of the ground
        assert landing < planner.stood[0, 2] - 0.005


def test_fall__ends_in_damping():
    simulator, course = simulated(*QUADRUPED), Course()
    simulator.pushes = [push_of(0.8, 1.0, 0.5, simulator.model.total_mass)]
    asked, phases, speeds = in_process(prepare(simulator)), [], []
    for answer in walk(simulator, asked, lambda _: Command(0.5), 4.0, course):
        phases.append(answer.phase)
        speeds.append(np.abs(simulator.state.r).max())
        if answer.phase is Phase.DAMPING:
            assert answer.law(0.0, simulator.state) @ simulator.state.r <= 0.0
    assert 0.5 < course.fallen < 2.0
    fallen = phases.index(Phase.DAMPING)
    assert set(phases[:fallen]) == {Phase.WALK}
    assert set(phases[fallen:]) == {Phase.DAMPING}
    assert speeds[-1] < 0.5 * max(speeds[fallen:])  # its feet alone collide: it sinks


def test_phases__are_those_of_the_command():
    simulator = simulated(*QUADRUPED)

    def command_at(time):
        return Command(0.3 * (0.2 < time < 0.7))

    asked = in_process(prepare(simulator)), command_at
    phases = [answer.phase for answer in walk(simulator, *asked, 2.0, Course())]
    changes = [phase for phase, _ in groupby(phases)]
    assert changes == [Phase.STAND, Phase.WALK, Phase.STOP, Phase.STAND]


def test_legs__reach_their_feet():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    supports = [Support(foot) for foot in FEET]
    legs, posture = Legs(model, supports), standing_posture(model, supports)
    data = np.tile(posture.data, (3, 1))
    goal = legs.points(data).p + np.random.default_rng(0).uniform(-0.03, 0.03, (3, 4, 3))
    at = legs.bend(data, goal, np.zeros((3, 4, 3, 3)))
    assert np.abs(at.p - goal).max() < 1e-4
    state = model.neutral_state()
    for k in range(3):
        state.data[:] = data[k]
        for number, foot in enumerate(FEET):
            np.testing.assert_allclose(
                Kinematics(model, state).pose(foot)[:3, 3], at.p[k, number], atol=1e-12
            )


def test_points__are_those_of_kinematics():
    model = TreeModel.from_urdf(robots.path('humanoid'))
    rng = np.random.default_rng(1)
    states = [model.random_state(rng) for _ in range(3)]
    names = 'left_sole', 'right_hand'
    at = Points(model, [model.frame(name) for name in names])(states)
    for k, state in enumerate(states):
        one = Kinematics(model, state)
        for number, name in enumerate(names):
            np.testing.assert_allclose(at.p[k, number], one.pose(name)[:3, 3], atol=1e-12)
            np.testing.assert_allclose(at.R[k, number], one.pose(name)[:3, :3], atol=1e-12)
            J = one.jacobian(name, expressed_in='mixed')
            np.testing.assert_allclose(at.J[k, number], J, atol=1e-12)


def cones_by_hand(model, supports, state, tau):
    """Return (1) and (2) of `cones` from the forces of one linearization, shares of the weight."""
    L = Linearizer(model, [support.contact for support in supports])(state, tau)
    at, found, first = Kinematics(model, state), [], 0
    for support in supports:
        f = L.wrenches[first : first + support.rows] / (9.81 * model.total_mass)
        first += support.rows
        if support.kind == 'point':
            f = at.pose(support.at(model))[:3, :3] @ f
        x, y, z = f[:3]
        found += [x - 0.5 * z, -x - 0.5 * z, y - 0.5 * z, -y - 0.5 * z, 0.03 - z]
        if support.kind == 'surface':
            length, width, _ = 0.85 * 0.5 * np.ptp(np.asarray(support.points), axis=0)
            found += [-f[4] - length * z, f[4] - length * z, f[3] - width * z, -f[3] - width * z]
            found += [f[5] - 0.05 * z, -f[5] - 0.05 * z]
    return np.array(found)


@pytest.mark.parametrize(
    ('robot', 'supports'),
    [
        ('quadruped', [Support(foot) for foot in FEET]),
        ('humanoid', [Support.sole(f'{side}_sole', 0.2, 0.1) for side in ('left', 'right')]),
    ],
)
def test_cones__are_those_of_the_forces_and_move_with_them(robot, supports):
    model = TreeModel.from_urdf(robots.path(robot))
    rng = np.random.default_rng(2)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    lin = Linearizer(model, [support.contact for support in supports])
    plan = lin.along([state, state], tau[None], [0.0, 0.02])
    places = Points(model, [support.at(model) for support in supports])([state])
    C, D, e = Cones(model, supports)(plan, places)
    np.testing.assert_allclose(e[0], cones_by_hand(model, supports, state, tau), atol=1e-9)
    z, w = rng.normal(size=2 * model.m), rng.normal(size=model.n)
    ends = [
        cones_by_hand(model, supports, state.retract(h * z), tau + h * w) for h in (1e-5, -1e-5)
    ]
    change = (ends[0] - ends[1]) / 2e-5
    found = C[0] @ z + D[0] @ w
    np.testing.assert_allclose(found, change, atol=1e-6 * np.abs(change).max())


PROBLEM = [*'ABcQqSRrCDe', 'lower', 'upper', 'row_weights', 'bound_weights']


@pytest.mark.parametrize(
    ('robot', 'command', 'push', 'duration', 'every'),
    [(QUADRUPED, 0.5, (0.1, 2.0, 0.6), 1.0, 6), (HUMANOID, 0.2, (0.02, 1.0, 0.95), 1.2, 12)],
)
def test_plans__are_those_of_piqp(robot, command, push, duration, every):
    simulator = simulated(*robot)
    simulator.pushes = [push_of(*push, simulator.model.total_mass)]
    walker, active = prepare(simulator), 0
    asked = in_process(walker), lambda _: Command(command)
    for cycle, answer in enumerate(walk(simulator, *asked, duration, Course())):
        if cycle % every:
            continue
        found, own, limit = answer.plan.solution, walker.problem, walker._limit
        assert {'friction', 'pulling', 'bounds'} <= set(found.violations)
        assert found.status == 'solved' or found.steps == RECURSIONS[walker.supports[0].kind]
        assert found.violations['bounds'] < 0.02 * limit.min()
        assert max(found.violations.values()) < 0.03
        z, w = by_piqp(own, found.z[0])
        is_pushed = 0.0 <= simulator.time - push[2] < 0.2
        near = 0.02 if found.status == 'solved' else 0.03  # from the last cycle's multipliers
        assert np.abs((found.w - w) / limit).max() < (0.08 if is_pushed else near)
        exact = StageProblem(*own.B.shape, own.e.shape[1])
        for name in PROBLEM:
            getattr(exact, name)[:] = getattr(own, name)
        found = exact.solve(found.z[0], rounds=40, newton_steps=20)
        assert np.abs((found.w - w) / limit).max() < 0.02
        assert cost(own, found.z, found.w) == pytest.approx(cost(own, z, w), rel=1e-3)
        assert max(found.violations.values()) < 1e-3
        active += np.count_nonzero(found.multipliers)
    assert active > 20


def test_simulation_and_page__need_no_package_of_recordings():
    code = (
        'import importlib.util as u; find = u.find_spec\n'
        'u.find_spec = lambda name: None if name in ("dask", "zarr") else find(name)\n'
        'import geolin_demos.walk.__main__, geolin_demos.balance.robots, geolin_tools.view.page'
    )
    subprocess.run([sys.executable, '-c', code], check=True)


def test_walker__names_feet_it_cannot_walk_on():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    supports = [Support(foot) for foot in FEET[:3]]
    with pytest.raises(ConfigurationError, match='expected four points'):
        walker_for(model, supports, standing_posture(model, supports))


def test_command__is_over_after_its_time_and_where_the_clock_was_set_back():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    feet = {'supports': [f'{foot}:0.02' for foot in FEET]}
    values = {row.name: row.default for row in WALKING_TABLE} | feet
    stream, source = WalkingStream(model, values, Counts()), Source(model)
    commands = {}
    for time in (10.0, 10.3, 10.7, 3.0):
        if time == 10.3:
            take(stream, 'cmd_vel', twist([0.3, 0.0, 0.0, 0.0, 0.0, 0.1]))
        commands[time] = source.feed(stream, round(time * SECOND)).command
    still = Command()
    assert commands == {10.0: still, 10.3: Command(0.3, 0.0, 0.1), 10.7: still, 3.0: still}
    stream.rise()
    assert source.feed(stream, round(3.5 * SECOND)).time == 0.5
    with dropped(Cause.NOT_FINITE):
        take(stream, 'cmd_vel', twist([np.nan] * 6))
