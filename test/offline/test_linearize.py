# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import json
from pathlib import Path

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


@pytest.fixture(scope='module')
def found(dataset):
    """The same, opened."""
    return open_dataset(str(dataset[0]))


@pytest.fixture
def linearized(robot, tmp_path):
    """A function from messages or a bag to the dataset about them."""

    def make(source, values=None, **options):
        if not isinstance(source, Path):
            source = write_bag(tmp_path / 'bag', source, robot[1])
        run(source, tmp_path / 'out.zarr', values, **options)
        return open_dataset(str(tmp_path / 'out.zarr'))

    return make


def replayed(bag, path, values=None):
    """Return what the node says of the same bag."""
    with open_source([bag], values=values) as source:
        replay(source, path)
    with Recording([path]) as recording:
        messages = recording.of_topic('/linearizer/linearization')
        return [read_linearization(message) for message in messages]


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
        {'contact_source': 'topic'},
    ],
    ids=lambda values: '-'.join(map(str, values)) or 'defaults',
)
def test_dataset__has_the_numbers_of_the_node_to_the_last_bit(
    values, robot, samples, linearized, tmp_path
):
    """Of a topic four feet stand, then two, then none: nothing is known before it begins."""
    messages, entries = Messages(robot[0]), []
    at = {4: LEGS, 12: LEGS[:2], 16: ()}
    for k, sample in enumerate(samples[:20]):
        if k in at:
            contacts = messages.contact_states(sample.stamp, [f'{leg}_foot' for leg in at[k]])
            entries.append(('contact_states', sample.stamp, contacts))
        entries += messages.of_samples([sample])
    found = linearized(entries, values, chunk=7)
    expected = replayed(tmp_path / 'bag', tmp_path / 'replayed', values)
    assert found.sizes['time'] == len(expected) == (16 if 'contact_source' in values else 20)
    for k, answer in enumerate(expected):
        state = State(found.H[k], found.s[k], found.v[k], found.r[k])
        np.testing.assert_array_equal(state.data[16:], answer.state.data[16:])
        np.testing.assert_array_equal(found.tau[k], answer.tau)
        for name in ('A', 'B', 'nu_dot', 'drift'):
            np.testing.assert_array_equal(found[name][k].values, getattr(answer, name), name)


def test_dataset__is_labelled_and_needs_no_reader_but_xarray(dataset, found, robot, samples):
    """Lazily, in chunks, with names, times and units."""
    assert found.A.dims == ('time', 'row', 'col')
    assert found.B.dims == ('time', 'row', 'input')
    assert found.time.values.astype('int64').tolist() == [sample.stamp for sample in samples]
    entry = found.A.sel(row='dv.z/dt', col='r.FL_calf_joint')
    assert (str(entry.row_unit.values), str(entry.col_unit.values)) == ('m/s^2', 'rad/s')
    assert found.nu_dot.acceleration.values[0] == 'dv.x/dt'
    assert found.B.input.values.tolist() == [f'tau.{name}' for name in robot[0].joint_names]
    assert found.attrs['complete'] is True
    assert found.attrs['description'] == robot[1]
    lazy = open_dataset(str(dataset[0]), chunks={})
    plain = xarray.open_zarr(str(dataset[0]), consolidated=False)
    assert plain.identical(lazy.reset_coords(('odometry_time', 'spectrum_time')))
    assert lazy.A.chunks == ((64, 64, 64, 58), (36,), (36,))


def test_rows_of_a_discrete_dataset__are_the_next_state(bag, linearized):
    found = linearized(bag, {'form': 'discrete'}, every=50)
    assert found.row.values.tolist() == found.col.values.tolist()
    assert found.row_unit.values.tolist() == found.col_unit.values.tolist()
    assert abs(found.A.sel(row='v.z', col='v.z').values - 1.0).max() < 0.1
    assert found.nu_dot.acceleration.values[0] == 'dv.x/dt'
    assert found.eigenvalues.attrs['units'] == '1'


def test_residual__is_measured_minus_predicted(found, samples):
    """Differences over 4 ms are off by the third derivative of the velocities."""
    residual = found.residual.values
    assert np.isnan(residual[[0, -1]]).all()
    scale = np.abs(found.nu_dot.values).max(axis=0)
    assert (np.median(np.abs(residual[1:-1]), axis=0) < 1e-3 * scale).all()
    assert (np.abs(residual[1:-1]).max(axis=0) < 0.1 * scale).all()
    v = np.array([sample.state.v for sample in samples])
    expected = (v[2:] - v[:-2]) / 0.004 - found.nu_dot.values[1:-1, :6]
    np.testing.assert_allclose(residual[1:-1, :6], expected, atol=1e-9)


def test_residual__is_nan_beside_a_gap(robot, samples, linearized):
    found = linearized(Messages(robot[0]).of_samples([*samples[:10], *samples[13:20]]))
    missing = np.isnan(found.residual.values).all(axis=1)
    assert np.flatnonzero(missing).tolist() == [0, 9, 10, 16]


def test_spectra__are_those_of_A_at_their_rate(found, robot):
    assert found.sizes['spectrum'] == 25
    assert found.spectrum_row.values.tolist() == list(range(0, 250, 10))
    for k in (0, 13):
        row = int(found.spectrum_row[k])
        assert found.spectrum_time[k] == found.time[row]
        expected = np.linalg.eigvals(found.A[row].values)
        order = np.lexsort((-expected.imag, -expected.real))
        np.testing.assert_allclose(found.eigenvalues[k].values, expected[order], atol=1e-6)
        state = State(found.H[row], found.s[row], found.v[row], found.r[row])
        condition = np.linalg.cond(mass_matrix(robot[0], state))
        assert found.mass_matrix_condition[k] == pytest.approx(condition, rel=1e-9)


def test_contacts_that_are_not_used__are_named_where_no_parameters_are_recorded(
    robot, samples, tmp_path
):
    """By a topic of contact states, or by A and B that were recorded under contacts."""
    messages = Messages(robot[0])

    def warnings_of(bags, values=None):
        found = []
        with open_source(bags, values=values, warn=found.append):
            return found

    flight = list(messages.of_samples(samples[:4]))
    stands = ('contact_states', samples[0].stamp, messages.contact_states(START, ['FL_foot']))
    by_topic = write_bag(tmp_path / 'topic', [stands, *flight], robot[1])
    (sentence,) = warnings_of([by_topic])
    assert '-p contact_source:=topic' in sentence
    assert warnings_of([by_topic], {'contact_source': 'parameter'}) == []
    bag, values = write_bag(tmp_path / 'bag', flight, robot[1]), {'contacts': ['RL_foot point']}
    replayed(bag, tmp_path / 'replayed', values)
    (sentence,) = warnings_of([bag, tmp_path / 'replayed'])
    assert '-p contacts:=' in sentence
    assert warnings_of([bag, tmp_path / 'replayed'], values) == []


@pytest.mark.parametrize(
    ('sampling', 'rows', 'spectra'),
    [
        ({'every': 7}, range(0, 250, 7), 25),
        ({'rate': 100.0, 'eig_rate': 0.0}, range(0, 250, 5), 0),
    ],
)
def test_thinning__takes_some_samples_with_all_neighbours(
    sampling, rows, spectra, bag, found, linearized
):
    thinned, whole = linearized(bag, **sampling), found.isel(time=list(rows))
    assert thinned.sizes.get('spectrum', 0) == spectra
    for name in ('time', 'A', 'B', 'nu_dot', 'residual', 'H'):
        np.testing.assert_array_equal(thinned[name], whole[name])


def test_stores__are_those_of_fsspec_and_bytes_do_not_depend_on_workers(
    bag, dataset, found, tmp_path
):
    run(bag, f'file://{tmp_path}/out.zarr', workers=2)
    assert content(tmp_path / 'out.zarr') == content(dataset[0])
    run(bag, 'memory://stores/out.zarr')
    np.testing.assert_array_equal(open_dataset('memory://stores/out.zarr').A, found.A)
    with pytest.raises(RecordingError, match='install the fsspec package of this kind'):
        run(bag, 'gs://bucket/out.zarr')


def test_finished_dataset__is_not_made_again_nor_shared_by_other_runs(bag, dataset, tmp_path):
    before = {file: file.stat().st_mtime_ns for file in dataset[0].rglob('*')}
    assert run(bag, dataset[0]) == dataset[1]._replace(computed=0)
    for values, options in ((None, {'every': 2}), ({'gravity': [0.0, 0.0, -1.62]}, {})):
        with pytest.raises(RecordingError, match='dataset of another run'):
            run(bag, dataset[0], values, **options)
    assert {file: file.stat().st_mtime_ns for file in dataset[0].rglob('*')} == before
    (tmp_path / 'notes.txt').write_text('mine')
    with pytest.raises(RecordingError, match='is no dataset'):
        run(bag, tmp_path)
    assert (tmp_path / 'notes.txt').read_text() == 'mine'


def test_unusable_inputs__are_dropped_and_counted(robot, samples, tmp_path, capsys):
    entries = list(Messages(robot[0]).of_samples(samples[:12]))
    entries[5][2].effort = np.full(12, np.nan)
    entries[9][2].header.stamp = entries[7][2].header.stamp  # duplicate
    bag = write_bag(tmp_path / 'bag', entries, robot[1])
    out = str(tmp_path / 'out.zarr')
    command = ['linearize', str(bag), '-o', out, '--workers', '1', '--json']
    assert main(command) == 2
    printed = json.loads(capsys.readouterr().out)
    drops = {'NaN or inf': 1, 'stamp not after the last one': 1}
    assert (printed['samples'], printed['computed'], printed['drops']) == (10, 10, drops)
    found = open_dataset(out)
    assert found.sizes['time'] == 10
    assert found.attrs['drops'] == drops
    Path(out, 'time/c/0').write_bytes(bytes(20))
    assert main(command) == 1
    assert 'out.zarr is a damaged dataset (RuntimeError' in capsys.readouterr().err


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
    run(bag, tmp_path / 'out.zarr', {'base': 'fixed'})
    found = open_dataset(str(tmp_path / 'out.zarr'))
    assert found.attrs['drops'] == {'singular inertia': 1}
    assert found.valid.values.tolist() == [True, True, False, True]
    assert np.isnan(found.nu_dot[2]).all()
    assert np.isfinite(found.A[3]).all()


@pytest.mark.parametrize(
    ('option', 'said'),
    [
        ('--chunk=0', 'chunk is 0'),
        ('--chunk=999999', 'chunk is 999999 samples, expected 1 to 207126'),
        ('--eig-rate=-1', 'eig_rate is -1.0'),
        ('--eig-rate=1e308', 'eig_rate is 1e+308'),
        ('--rate=-5', 'rate is -5.0'),
        ('--rate=1e308', 'rate is 1e+308'),
        ('--every=0', 'every is 0'),
    ],
)
def test_number_out_of_range__is_refused(option, said, bag, tmp_path, capsys):
    assert main(['linearize', str(bag), '-o', str(tmp_path / 'out'), '--workers=1', option]) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()
