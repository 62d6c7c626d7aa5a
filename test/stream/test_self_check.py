# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A stream certifies every n-th of its linearizations, and its messages say what was found."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from support.messages import SECOND, linearized_dynamics, stamp, wrench_stamped
from support.taking import Source, take
from support.trees import gimbal
from support.wrong_node import RIGHT, WrongLinearize

from geolin_ros import Contact, Description, Joint, Link, TreeModel, robots
from geolin_ros.cli import main
from geolin_ros.errors import InputError
from geolin_ros.stream import linearization_stream
from geolin_ros.stream.contacts import ContactSettings
from geolin_ros.stream.failed_check import load_failed_check, save_failed_check
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.wrench_input import WrenchTopic
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.outputs.messages import LinearizationWriter
from geolin_ros.stream.parameters.file import default_values

T0, MS = 50 * SECOND, 1_000_000
EVERY = 20
FEET = tuple(Contact(f'{leg}_foot') for leg in ('FL', 'FR', 'RL', 'RR'))


class Run:
    """A stream, fed with random states 2 ms apart and checked as a node does, in its own time."""

    def __init__(self, model, **settings):
        settings = {'certificate_every': EVERY, 'certificate_budget': 1.0, **settings}
        self.stream = LinearizationStream(model, StreamSettings(**settings))
        self.stream.warm_up()
        self.check = self.stream.self_check
        message = linearized_dynamics()
        message.trust = SimpleNamespace(stamp=stamp(0), checked=False, checks=0)
        self.writer = LinearizationWriter(message, model, self.stream.settings)
        self.time, self.source = T0, Source(model)
        self.sample = self.verdict = None

    def steps(self, count):
        """Feed so many joint states."""
        for _ in range(count):
            self.step()
        return self

    def until_failed(self, most):
        """Feed joint states until a check fails; return how many."""
        for count in range(1, most + 1):
            self.step()
            if self.verdict is not None and self.verdict.certificate.failed:
                return count
        raise AssertionError(f'no check of {most} answers failed')

    def step(self, posture=None):
        """Feed one joint state, at random positions if there is no posture; return its answer."""
        self.time += 2 * MS
        base = self.source.odometry(self.time, child_frame_id=self.stream.model.base_link)
        joints = self.source.joint_state(self.time)
        joints.position[:] = joints.position if posture is None else posture
        take(self.stream, 'odom', base)
        answer = take(self.stream, 'joint_states', joints)
        sample = self.check.due(answer)
        if sample is not None:
            self.sample, self.verdict = sample, self.check.check(sample)
        return answer


@pytest.fixture
def wrong(monkeypatch):
    """Spoil the linearizations of every stream after a while."""
    monkeypatch.setattr(linearization_stream, 'linearize', WrongLinearize())


SETTINGS = {
    'continuous': {},
    'discrete, frozen': {'form': 'discrete', 'method': 'zoh', 'reference': 'frozen'},
    'at rest': {'nu_dot': 'zero'},
    'held still': {'torque_source': 'inverse_dynamics', 'representation': 'mixed'},
    'contacts': {'contacts': ContactSettings(contacts=FEET)},
    'wrench': {
        'wrench_topics': (WrenchTopic('push', 'FL_foot', 'world_oriented'),),
        'wrench_timeout': 1.0,
    },
}


@pytest.mark.parametrize('name', SETTINGS)
def test_right_linearizations__pass(quadruped, name):
    run = Run(quadruped, **SETTINGS[name])
    force = wrench_stamped(T0, (30.0, 0.0, 200.0, 1.0, 2.0, 3.0), 'odom')
    take(run.stream, 'push', force)  # where the settings know of it
    run.steps(2 * EVERY)
    if name == 'wrench':
        assert [wrench.force[2] for wrench in run.sample.claim.wrenches] == [200.0]
    assert (run.verdict.checks, run.verdict.failures) == (2, 0), run.check.details
    assert run.verdict.stamp == run.time
    assert run.verdict.certificate.deviation < 1e-7
    assert run.check.errors == []


def test_posture_that_costs_digits__is_warned_about_as_long_as_it_lasts():
    run = Run(gimbal('floating', ['pan', 'tilt', 'roll']), certificate_every=1)
    said = []
    for tilt in (0.3, 3e-5, 0.3):
        answer = run.step([0.3, tilt, 0.2])  # checked, to be said of the next one
        assert run.verdict is not None
        answer = run.step([0.3, tilt, 0.2])
        said.append(list(run.writer.write(answer).trust.findings))
        assert run.check.warnings == said[-1]
    assert said[0] == said[2] == []
    assert re.search(r'of the inertia at r\.(pan|roll).* lose \d+ of 16 digits', said[1][0])


@pytest.mark.parametrize('name', ['continuous', 'contacts'])
def test_one_wrong_entry__is_reported_within_two_rounds(quadruped, wrong, name):
    run = Run(quadruped, **SETTINGS[name])
    assert run.until_failed(RIGHT + 2 * EVERY) >= RIGHT  # a warm-up has more on contacts
    assert run.verdict.certificate.deviation == pytest.approx(1e-3, rel=2.0)
    assert run.verdict.certificate.worst == 'v by s'
    assert 'A and B are wrong' in run.check.errors[0]
    answer = run.step()
    trust = run.writer.write(answer).trust
    assert (trust.checked, trust.failed, trust.failures) == (True, True, 1)
    assert trust.deviation > 100.0 * trust.limit
    assert trust.stamp.sec * SECOND + trust.stamp.nanosec == run.verdict.stamp


def test_checks_over_budget__are_skipped_and_counted(quadruped):
    run = Run(quadruped, certificate_every=1, certificate_budget=1e-6).steps(5)
    assert run.verdict.checks == 1
    assert run.check.skipped == 4
    assert run.check.details['checks skipped, over budget'] == '4'


def test_check_under_way__is_not_started_again(quadruped):
    run = Run(quadruped, certificate_every=1)
    answer = run.step()
    assert run.check.due(answer) is not None
    assert run.check.due(answer) is None
    assert run.check.skipped == 1


def test_no_checks__if_not_asked_for(quadruped):
    run = Run(quadruped, certificate_every=0).steps(3)
    assert run.verdict is None
    assert run.check.details == {}


def test_counts__go_on_with_another_model(quadruped):
    run, later = Run(quadruped).steps(EVERY), Run(quadruped)
    later.stream.resume(run.stream)
    later.time = run.time
    assert later.steps(EVERY).verdict.checks == 2


def test_redundant_contacts__are_counted_as_impossible(quadruped):
    twice = (Contact('FL_foot', 'surface'), Contact('FL_calf', 'surface'))
    run = Run(quadruped, contacts=ContactSettings(contacts=twice)).steps(EVERY)
    assert run.verdict is None
    assert run.check.details['checks impossible'].startswith('1 contacts of robot')


def test_warm_up__asks_for_no_answer():
    """A point of an arm with one joint cannot be held in three directions."""
    links = [Link.from_mass(name, 1.0, np.ones(3), np.eye(3)) for name in ('base', 'arm')]
    elbow = Joint('elbow', 'revolute', 'base', 'arm', axis=np.array((0.0, 0.0, 1.0)))
    arm = TreeModel.from_description(Description('arm', tuple(links), (elbow,)), base='fixed')
    held = ContactSettings(contacts=(Contact('arm'),))
    stream = LinearizationStream(arm, StreamSettings(contacts=held))
    stream.warm_up()
    assert stream.self_check.impossible == 0


@pytest.fixture(scope='module')
def failed(quadruped):
    """Runs with a failed check, by the names of their settings."""
    with pytest.MonkeyPatch.context() as patch:
        runs = {}
        for name in ('continuous', 'contacts'):
            patch.setattr(linearization_stream, 'linearize', WrongLinearize())
            runs[name] = Run(quadruped, **SETTINGS[name])
            runs[name].until_failed(RIGHT + 2 * EVERY)
        return runs


def save(run, folder, model, text):
    """Keep the failed check of a run, of a model and its description; return the file."""
    return save_failed_check(
        folder, text, default_values(), model, run.sample, run.verdict.certificate
    )


@pytest.mark.parametrize('name', ['continuous', 'contacts'])
def test_failed_check__is_saved_and_repeated_to_the_last_bit(
    quadruped, failed, tmp_path, capsys, name
):
    run = failed[name]
    path = save(run, tmp_path / 'failed', quadruped, robots.path('quadruped'))
    again = load_failed_check(path)
    claim, loaded = run.sample.claim, again.sample.claim
    for part in ('tau', 'A', 'B', 'nu_dot'):
        np.testing.assert_array_equal(getattr(loaded, part), getattr(claim, part))
    np.testing.assert_array_equal(loaded.state.data, claim.state.data)
    assert again.certificate == run.verdict.certificate
    assert main(['recheck', str(path)]) == 0  # what is computed anew is right
    said = capsys.readouterr().out
    found = run.verdict.certificate
    words = f'failed, {found.deviation:.3e} off in v by s'
    assert said.count(words) == 2  # as found then, and again
    assert 'computed anew:   passed' in said
    joint = quadruped.joint_names[2]
    assert f'1 entries of A and B differ; most: d v.z / d s.{joint}' in said


@pytest.mark.parametrize('name', ['a/b', '../../x', '/etc/x', 'n' * 300, 'Robot № 1', '..'])
def test_failed_check_of_a_robot_of_any_name__is_kept_in_its_folder(failed, tmp_path, name):
    text = robots.path('quadruped').read_text().replace('"quadruped"', f'"{name}"')
    model = TreeModel.from_urdf(text)
    assert model.name == name
    folder = tmp_path / 'deep' / 'folder'
    path = save(failed['continuous'], folder, model, text)
    assert list(folder.iterdir()) == [path]
    assert re.fullmatch(r'failed-check-[A-Za-z0-9._-]{0,60}-\d+\.json', path.name)
    assert load_failed_check(path).model.name == name


def test_other_files__are_refused(quadruped, failed, tmp_path):
    path = save(failed['continuous'], tmp_path, quadruped, robots.path('quadruped'))
    content = json.loads(path.read_text())
    less = {key: value for key, value in content.items() if key != 'tau'}
    for changed in ({'format': 'other'}, less, content | {'model_hash': 'other'}, '{'):
        path.write_text(changed if changed == '{' else json.dumps(changed))
        with pytest.raises(InputError):
            load_failed_check(path)
