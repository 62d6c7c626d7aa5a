# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import json

import numpy as np
import pytest
import xarray
from support.bags import START, Messages, Sample, write_bag
from support.datasets import content, run

from geolin_ros.cli import main
from geolin_ros.datasets import open_dataset
from geolin_ros.dynamics.functions import mass_matrix
from geolin_ros.errors import RecordingError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline.linearize import Sampling
from geolin_ros.offline.message_types import LINEARIZATION, known_types
from geolin_ros.offline.recording import Recording
from geolin_ros.offline.replay import replay
from geolin_ros.offline.source import open_source
from geolin_ros.stream.outputs.reading import read_linearization

LEGS = ('FL', 'FR', 'RL', 'RR')


@pytest.fixture(scope='module')
def dataset(bag, tmp_path_factory):
    """The linearizations of the flight: path and result."""
    path = tmp_path_factory.mktemp('linearize') / 'flight.zarr'
    return path, run(bag, path)


def replayed(bag, path, values=None):
    """Return what the node says of the same bag."""
    with open_source([bag], values=values) as source:
        replay(source, path)
    with Recording([path]) as recording:
        return [
            read_linearization(known_types().deserialize_cdr(data, LINEARIZATION))
            for data in recording.raw('/linearizer/linearization')
        ]


@pytest.mark.parametrize(
    'values',
    [
        {},
        {'reference': 'frozen', 'actuated_joints': ['FL_hip_joint', 'RR_calf_joint']},
        {'base': 'fixed', 'torque_source': 'zero'},
        {'representation': 'mixed'},
        {'form': 'discrete', 'method': 'euler', 'dt': 0.005},
        {'nu_dot': 'zero', 'torque_source': 'inverse_dynamics'},
        {'contacts': ['FL_foot point 100.0 20.0', 'RR_foot point']},
        {'contacts': [f'{leg}_foot point' for leg in LEGS], 'form': 'discrete', 'dt': 0.005},
    ],
    ids=lambda values: '-'.join(map(str, values)) or 'defaults',
)
def test_dataset__has_the_numbers_of_the_node_to_the_last_bit(values, robot, samples, tmp_path):
    messages = Messages(robot[0]).of_samples(samples[:20])
    bag = write_bag(tmp_path / 'bag', messages, robot[1])
    run(bag, tmp_path / 'out.zarr', values)
    found = open_dataset(str(tmp_path / 'out.zarr'))
    expected = replayed(bag, tmp_path / 'replayed', values)
    assert found.sizes['time'] == len(expected) == 20
    for k, answer in enumerate(expected):
        state = State(found.H[k], found.s[k], found.v[k], found.r[k])
        np.testing.assert_array_equal(state.data[16:], answer.state.data[16:])
        np.testing.assert_array_equal(found.tau[k], answer.tau)
        for name in ('A', 'B', 'nu_dot', 'drift'):
            np.testing.assert_array_equal(found[name][k].values, getattr(answer, name), name)


def test_dataset__is_labelled(dataset, robot, samples):
    found = open_dataset(str(dataset[0]))
    assert isinstance(found, xarray.Dataset)
    assert found.A.dims == ('time', 'row', 'col')
    assert found.B.dims == ('time', 'row', 'input')
    assert found.time.values.astype('int64').tolist() == [sample.stamp for sample in samples]
    entry = found.A.sel(row='dv.z/dt', col='r.FL_calf_joint')
    assert (str(entry.row_unit.values), str(entry.col_unit.values)) == ('m/s^2', 'rad/s')
    assert entry.shape == (len(samples),)
    assert found.nu_dot.acceleration.values[0] == 'dv.x/dt'
    assert found.B.input.values.tolist() == [f'tau.{name}' for name in robot[0].joint_names]
    assert found.attrs['complete'] is True
    assert found.attrs['description'] == robot[1]


def test_dataset__needs_no_reader_but_xarray(dataset):
    """Lazily, in chunks, with names, times and units."""
    found = open_dataset(str(dataset[0]), chunks={})
    plain = xarray.open_zarr(str(dataset[0]), consolidated=False)
    assert plain.identical(found.reset_coords(('odometry_time', 'spectrum_time')))
    assert found.A.chunks == ((64, 64, 64, 58), (36,), (36,))
    assert not open_dataset(str(dataset[0])).A.variable._in_memory


def test_rows_of_a_discrete_dataset__are_the_next_state(bag, tmp_path):
    run(bag, tmp_path / 'out.zarr', {'form': 'discrete'}, sampling=Sampling(every=50))
    found = open_dataset(str(tmp_path / 'out.zarr'))
    assert found.row.values.tolist() == found.col.values.tolist()
    assert found.row_unit.values.tolist() == found.col_unit.values.tolist()
    entry = found.A.sel(row='v.z', col='v.z')
    assert str(entry.row_unit.values) == 'm/s'
    assert abs(entry.values - 1.0).max() < 0.1
    assert found.nu_dot.acceleration.values[0] == 'dv.x/dt'
    assert found.acceleration_unit.values[0] == 'm/s^2'
    assert found.eigenvalues.attrs['units'] == '1'


def test_residual__is_measured_minus_predicted(dataset, samples):
    """Differences over 4 ms are off by the third derivative of the velocities."""
    found = open_dataset(str(dataset[0]))
    residual = found.residual.values
    assert np.isnan(residual[[0, -1]]).all()
    assert np.isfinite(residual[1:-1]).all()
    scale = np.abs(found.nu_dot.values).max(axis=0)
    assert (np.median(np.abs(residual[1:-1]), axis=0) < 1e-3 * scale).all()
    assert (np.abs(residual[1:-1]).max(axis=0) < 0.1 * scale).all()
    v = np.array([sample.state.v for sample in samples])
    expected = (v[2:] - v[:-2]) / 0.004 - found.nu_dot.values[1:-1, :6]
    np.testing.assert_allclose(residual[1:-1, :6], expected, atol=1e-9)


def test_residual__is_nan_beside_a_gap(robot, samples, tmp_path):
    messages = Messages(robot[0]).of_samples([*samples[:10], *samples[13:20]])
    bag = write_bag(tmp_path / 'bag', messages, robot[1])
    run(bag, tmp_path / 'out.zarr')
    missing = np.isnan(open_dataset(str(tmp_path / 'out.zarr')).residual.values).all(axis=1)
    assert np.flatnonzero(missing).tolist() == [0, 9, 10, 16]


def test_spectra__are_those_of_A_at_their_rate(dataset, robot):
    found = open_dataset(str(dataset[0]))
    assert found.sizes['spectrum'] == 25
    assert found.spectrum_row.values.tolist() == list(range(0, 250, 10))
    for k in (0, 13):
        row = int(found.spectrum_row[k])
        assert found.spectrum_time[k] == found.time[row]
        eigenvalues = found.eigenvalues[k].values
        expected = np.linalg.eigvals(found.A[row].values)
        order = np.lexsort((-expected.imag, -expected.real))
        np.testing.assert_allclose(eigenvalues, expected[order], atol=1e-6)
        assert (np.diff(eigenvalues.real) <= 0.0).all()
        state = State(found.H[row], found.s[row], found.v[row], found.r[row])
        condition = np.linalg.cond(mass_matrix(robot[0], state))
        assert found.mass_matrix_condition[k] == pytest.approx(condition, rel=1e-9)


def test_contacts_that_come_and_go__are_those_of_the_topic(robot, samples, tmp_path):
    """Four feet stand, then two, then none; joint states before the first message are dropped."""
    messages, entries = Messages(robot[0]), []
    at = {4: LEGS, 12: LEGS[:2], 16: ()}
    for k, sample in enumerate(samples[:20]):
        if k in at:
            contacts = messages.contact_states(sample.stamp, [f'{leg}_foot' for leg in at[k]])
            entries.append(('contact_states', sample.stamp, contacts))
        entries += messages.of_samples([sample])
    bag = write_bag(tmp_path / 'bag', entries, robot[1])
    values = {'contact_source': 'topic'}
    result = run(bag, tmp_path / 'out.zarr', values, chunk=7)
    assert (result.samples, result.drops) == (16, {'no contacts yet, or foot forces too old': 4})
    found = open_dataset(str(tmp_path / 'out.zarr'))
    expected = replayed(bag, tmp_path / 'replayed', values)
    np.testing.assert_array_equal(found.A.values, [answer.A for answer in expected])
    np.testing.assert_array_equal(found.nu_dot.values, [answer.nu_dot for answer in expected])
    assert found.attrs['parameters']['contact_source'] == 'topic'


def test_contacts_that_are_not_used__are_named_where_no_parameters_are_recorded(
    robot, samples, tmp_path
):
    """By a topic of contact states, or by A and B that were recorded under contacts."""
    messages, found = Messages(robot[0]), []

    def warnings_of(bags, values=None):
        found.clear()
        with open_source(bags, values=values, warn=found.append):
            return found

    flight = list(messages.of_samples(samples[:4]))
    stands = ('contact_states', samples[0].stamp, messages.contact_states(START, ['FL_foot']))
    by_topic = write_bag(tmp_path / 'topic', [stands, *flight], robot[1])
    (sentence,) = warnings_of([by_topic])
    assert sentence.endswith('/contact_states are not used; -p contact_source:=topic uses them')
    for values in ({'contact_source': 'topic'}, {'contact_source': 'parameter'}):
        assert warnings_of([by_topic], values) == []
    bag, values = write_bag(tmp_path / 'bag', flight, robot[1]), {'contacts': ['RL_foot point']}
    assert warnings_of([bag]) == []
    replayed(bag, tmp_path / 'replayed', values)
    (sentence,) = warnings_of([bag, tmp_path / 'replayed'])
    assert """-p "contacts:=['RL_foot point']" uses them""" in sentence
    assert warnings_of([bag, tmp_path / 'replayed'], values) == []


@pytest.mark.parametrize(
    ('sampling', 'rows', 'spectra'),
    [
        (Sampling(every=7), range(0, 250, 7), 25),
        (Sampling(rate=100.0, eig_rate=0.0), range(0, 250, 5), 0),
        (Sampling(rate=1000.0, eig_rate=10.0), range(250), 5),
    ],
)
def test_thinning__takes_some_samples_with_all_neighbours(
    sampling, rows, spectra, bag, dataset, tmp_path
):
    result = run(bag, tmp_path / 'out.zarr', sampling=sampling)
    assert (result.samples, result.spectra) == (len(rows), spectra)
    found = open_dataset(str(tmp_path / 'out.zarr'))
    whole = open_dataset(str(dataset[0])).isel(time=list(rows))
    for name in ('time', 'A', 'B', 'nu_dot', 'residual', 'H'):
        np.testing.assert_array_equal(found[name], whole[name])


def test_bytes__do_not_depend_on_workers(bag, dataset, tmp_path):
    run(bag, tmp_path / 'out.zarr', workers=2)
    assert content(tmp_path / 'out.zarr') == content(dataset[0])


def test_stores__are_those_of_fsspec(bag, dataset, tmp_path):
    run(bag, f'file://{tmp_path}/out.zarr', workers=2)
    assert content(tmp_path / 'out.zarr') == content(dataset[0])
    run(bag, 'memory://stores/out.zarr')
    found = open_dataset('memory://stores/out.zarr')
    np.testing.assert_array_equal(found.A, open_dataset(str(dataset[0])).A)
    found = open_dataset(f'file://{tmp_path}/out.zarr')
    np.testing.assert_array_equal(found.A[100], open_dataset(str(dataset[0])).A[100])
    with pytest.raises(RecordingError, match='install the fsspec package of this kind'):
        run(bag, 'gs://bucket/out.zarr')


def test_object_store_that_does_not_answer__is_explained(bag, monkeypatch, capsys):
    """No bucket is there to be written to; everything up to the network is."""
    for name, value in (
        ('ACCESS_KEY_ID', 'none'),
        ('SECRET_ACCESS_KEY', 'none'),
        ('DEFAULT_REGION', 'eu-central-1'),
        ('ENDPOINT_URL', 'http://127.0.0.1:9'),
        ('MAX_ATTEMPTS', '1'),
    ):
        monkeypatch.setenv(f'AWS_{name}', value)
    assert main(['linearize', str(bag), '-o', 's3://bucket/out.zarr', '--workers', '1']) == 1
    said = capsys.readouterr().err
    assert 's3://bucket/out.zarr cannot be reached' in said
    assert '127.0.0.1:9' in said
    assert 'check address, credentials and network' in said


def test_finished_dataset__is_not_made_again(bag, dataset):
    before = {file: file.stat().st_mtime_ns for file in dataset[0].rglob('*')}
    result = run(bag, dataset[0])
    assert result == dataset[1]._replace(computed=0)
    assert {file: file.stat().st_mtime_ns for file in dataset[0].rglob('*')} == before


def test_other_runs__do_not_share_a_dataset(bag, dataset, tmp_path):
    with pytest.raises(RecordingError, match='dataset of another run'):
        run(bag, dataset[0], sampling=Sampling(every=2))
    with pytest.raises(RecordingError, match='dataset of another run'):
        run(bag, dataset[0], {'gravity': [0.0, 0.0, -1.62]})
    (tmp_path / 'notes.txt').write_text('mine')
    with pytest.raises(RecordingError, match='is no dataset'):
        run(bag, tmp_path)
    assert (tmp_path / 'notes.txt').read_text() == 'mine'


def test_command__prints_what_became_of_it(bag, tmp_path, capsys):
    command = ['linearize', str(bag), '-o', str(tmp_path / 'out.zarr'), '--workers', '1']
    assert main([*command, '--json', '--every', '5', '--eig-rate', '5']) == 0
    assert json.loads(capsys.readouterr().out) == {
        'output': str(tmp_path / 'out.zarr'),
        'samples': 50,
        'spectra': 3,
        'computed': 50,
        'drops': {},
        'skipped': 0,
    }
    assert main([*command, '--every', '5', '--eig-rate', '5']) == 0
    assert '50 samples, 0 of them now, 3 spectra' in capsys.readouterr().out


def test_unusable_inputs__are_dropped_and_counted(robot, samples, tmp_path, capsys):
    entries = list(Messages(robot[0]).of_samples(samples[:12]))
    entries[5][2].effort = np.full(12, np.nan)
    entries[9][2].header.stamp = entries[7][2].header.stamp  # duplicate
    bag = write_bag(tmp_path / 'bag', entries, robot[1])
    out = str(tmp_path / 'out.zarr')
    assert main(['linearize', str(bag), '-o', out, '--workers', '1']) == 2
    printed = capsys.readouterr().out
    assert 'dropped: 1 x NaN or inf' in printed
    assert 'dropped: 1 x stamp not after the last one' in printed
    found = open_dataset(out)
    assert found.sizes['time'] == 10
    assert found.attrs['drops'] == {'NaN or inf': 1, 'stamp not after the last one': 1}


def test_wrong_robot__is_an_error_with_the_causes(robot, samples, tmp_path, capsys):
    messages = Messages(robot[0])
    entries = [('odom', s.stamp, messages.odometry(s)) for s in samples[:5]]
    entries += [
        ('joint_states', s.stamp, messages.joint_state(s, name=[f'j{k}' for k in range(12)]))
        for s in samples[:5]
    ]
    bag = write_bag(tmp_path / 'bag', sorted(entries, key=lambda entry: entry[1]), robot[1])
    assert main(['linearize', str(bag), '-o', str(tmp_path / 'out.zarr'), '--workers', '1']) == 1
    assert 'can be linearized: 5 x joint missing; see `geolin inspect`' in capsys.readouterr().err


ARM = """<robot name="arm">
  <link name="base"/>
  <link name="sleeve"/>
  <link name="ball"><inertial><mass value="1"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0"
    izz="0"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="sleeve"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
  <joint name="slide" type="prismatic"><parent link="sleeve"/><child link="ball"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
</robot>"""


@pytest.mark.filterwarnings('ignore::geolin_ros.errors.ModelWarning')
def test_sample_without_linearization__is_nan_and_counted(tmp_path):
    """Turning has no inertia to move where the ball is on the axis."""
    model = TreeModel.from_urdf(ARM, base='fixed')
    samples = []
    for k, place in enumerate((0.1, 0.2, 0.0, 0.3)):
        state = model.neutral_state()
        state.s[:] = 0.5, place
        samples.append(Sample(10**9 + k * 10**7, state, np.zeros(2)))
    bag = write_bag(tmp_path / 'bag', Messages(model).of_samples(samples), ARM)
    result = run(bag, tmp_path / 'out.zarr', {'base': 'fixed'})
    assert result.drops == {'singular inertia': 1}
    found = open_dataset(str(tmp_path / 'out.zarr'))
    assert found.valid.values.tolist() == [True, True, False, True]
    assert np.isnan(found.nu_dot[2]).all()
    assert np.isfinite(found.A[3]).all()


@pytest.mark.parametrize(
    ('option', 'said'),
    [
        ('--chunk=0', 'chunk is 0 samples, expected at least 1'),
        ('--eig-rate=-1', 'eig_rate is -1.0 Hz, expected at least 0: never'),
        ('--rate=-5', 'rate is -5.0 Hz, expected more than 0'),
        ('--every=0', 'every is 0, expected at least 1'),
    ],
)
def test_number_out_of_range__is_refused(option, said, bag, tmp_path, capsys):
    assert main(['linearize', str(bag), '-o', str(tmp_path / 'out'), '--workers=1', option]) == 1
    assert capsys.readouterr().err == f'geolin linearize: {said}\n'
    assert not (tmp_path / 'out').exists()
