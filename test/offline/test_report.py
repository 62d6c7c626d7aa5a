# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of a report, looked at in a browser."""

import json
import pickle
import re
import shutil
from pathlib import Path

import numcodecs
import numpy as np
import pytest
import zarr
from geolin_tools.cli import report
from geolin_tools.cli.report import write_page
from geolin_tools.modes import AMPLITUDE, joined_links, origins, slow_or_unstable
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait
from support.bags import FOLDER, Messages, write_bag
from support.browser import errors, open_browser
from support.datasets import run

from geolin_ros import urdf
from geolin_ros.cli import main
from geolin_ros.datasets import open_dataset
from geolin_ros.offline import store
from geolin_ros.stream.analysis import STILL

INK = """
const canvas = arguments[0], pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width,
    canvas.height).data;
let hash = 0, inked = 0;
for (let k = 0; k < pixels.length; k += 4) {
    if (pixels[k + 3]) inked++;
    for (let c = 0; c < 4; c++) hash = (hash * 31 + pixels[k + c]) | 0;
}
return [inked, hash];
"""
CHART = """
const u = charts[arguments[0]];
const isDrawn = (x, y) => u.ctx.getImageData(Math.round(u.valToPos(x, 'x', true)) - 1,
    Math.round(u.valToPos(y, 'y', true)) - 1, 3, 3).data.some((v, c) => c % 4 === 3 && v > 0);
return [u.axes.map((a) => a.label), u.series.slice(1).map((one, k) => [one.label, one.show,
    u.data[k + 1], u.data[k + 1].every((y, i) => y === null || isDrawn(u.data[0][i], y))])];
"""
"""Of a chart: titles of its axes; of each curve name, whether it is shown, values, and ink."""


@pytest.fixture(scope='module')
def dataset(robot, samples, tmp_path_factory):
    """A flight of which one joint state was dropped."""
    folder = tmp_path_factory.mktemp('report')
    entries = list(Messages(robot[0]).of_samples(samples))
    entries[41][2].effort = np.full(12, np.nan)
    run(write_bag(folder / 'bag', entries, robot[1]), folder / 'out.zarr')
    return folder / 'out.zarr'


@pytest.fixture(scope='module')
def page(dataset):
    """The html file."""
    path = dataset.parent / 'report.html'
    assert main(['report', str(dataset), '-o', str(path), '--instants', '4']) == 0
    return path


@pytest.fixture(scope='module')
def browser(page, tmp_path_factory):
    """Headless Chromium, without a network, with the page open."""
    with open_browser(tmp_path_factory.mktemp('profile'), 'disable-gpu') as window:
        window.get(page.as_uri())
        yield window


def reported(path, *options):
    """Return the numbers inside of the page about a dataset."""
    page = path.with_suffix('.html')
    assert main(['report', str(path), '-o', str(page), *(options or ('--instants', '2'))]) == 0
    return json.loads(re.search(r'application/json">(.*?)</script>', page.read_text(), re.S)[1])


def text(browser, name):
    return browser.find_element(By.ID, name).text


def ink(browser, name):
    """Return how many pixels of a canvas are drawn, and a hash of all."""
    return tuple(browser.execute_script(INK, browser.find_element(By.ID, name)))


def test_page__shows_the_run(browser, page):
    assert text(browser, 'robot') == 'quadruped'
    facts = text(browser, 'facts')
    for fact in (
        '249\nsamples',
        '0.498 s\nduration',
        '12\njoints',
        '15 kg\nmass',
        '1\ninputs dropped',
    ):
        assert fact in facts
    assert text(browser, 'drops') == '1 NaN or inf'
    assert 'growth' not in facts  # it moves
    assert 'The robot moves' in text(browser, 'margins')
    loaded = browser.execute_script('return performance.getEntriesByType("resource").length')
    assert loaded == 0  # it needs nothing else
    assert page.stat().st_size < 5e6
    assert errors(browser) == []


def curves(browser, name, title=None):
    """Return the values of the curves of a chart that are shown and drawn, by name."""
    titles, found = browser.execute_script(CHART, name)
    assert title is None or titles == ['time [s]', title]
    assert all(is_drawn for _, is_shown, _, is_drawn in found if is_shown), name
    return {label: np.array(values, float) for label, is_shown, values, _ in found if is_shown}


def assert_like(found, expected):
    """Numbers of a page are rounded."""
    np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-3 * np.nanmax(np.abs(expected)))


def test_curves__are_drawn_from_the_numbers(browser, dataset):
    found = open_dataset(str(dataset))
    eigenvalues = found.eigenvalues.values
    swinging = np.where(np.abs(eigenvalues.imag) > STILL, eigenvalues, np.nan)
    damping = np.array([np.nanmin(row) for row in -swinging.real / np.abs(swinging)])
    for name, title, values in (
        ('growth', 'fastest growth [1/s]', eigenvalues.real.max(axis=1)),
        ('damping', 'least damping ratio [1]', damping),
        ('condition', 'condition number [1]', found.mass_matrix_condition.values),
    ):
        (curve,) = curves(browser, name, title).values()
        assert_like(curve, values)
    residual = found.residual[:, 0].values
    (course,) = curves(browser, 'course', 'RMS of dv.x/dt [m/s^2]').values()
    rms = [np.sqrt(np.nanmean(b**2)) for b in np.array_split(residual, 100)]
    assert np.corrcoef(course, rms)[0, 1] > 0.9
    points = np.concatenate([*curves(browser, 'plane').values()])
    assert np.isfinite(points).sum() == 36
    for group, quantity, title, values in (
        ('joints', 'rate', 'rate [rad/s or m/s]', found.r),
        ('joints', 'effort', 'effort [N m or N]', found.tau),
        ('joints', 'position', 'position [rad or m]', found.s),
        ('base', 'angular velocity in base axes', None, found.v[:, 3:]),
        ('base', 'position', None, found.H[:, :3, 3]),
    ):
        selector = f'[data-group={group}] [data-quantity="{quantity}"]'
        browser.find_element(By.CSS_SELECTOR, selector).click()
        shown = curves(browser, group, title)
        assert list(shown) == (found.joint.values.tolist() if group == 'joints' else [*'xyz'])
        assert_like(np.transpose(list(shown.values())), values.values)
    label = "//*[@id='joints']//*[@class='u-label' and text()='RL_hip_joint']"
    browser.find_element(By.XPATH, label).click()
    assert list(curves(browser, 'joints')) == ['RL_hip_joint']
    for title in ('Contact forces', 'Contacts over time'):  # it flies
        assert title not in browser.find_element(By.TAG_NAME, 'body').text
    assert errors(browser) == []


def test_matrices__are_chosen_and_read(browser, dataset):
    found = open_dataset(str(dataset))
    slider, heat = browser.find_element(By.ID, 'instant'), browser.find_element(By.ID, 'heat')
    slider.send_keys(Keys.HOME)
    first = ink(browser, 'heat')
    assert first[0] == 720 * 720
    slider.send_keys(Keys.END)
    assert text(browser, 'instant-text') == '0.498 s'
    assert ink(browser, 'heat') != first
    size = heat.size['width'] / 36
    # offsets are from the middle of the element
    x, y = (30.5 - 18) * size, (20.5 - 18) * size
    ActionChains(browser).move_to_element_with_offset(heat, round(x), round(y)).perform()
    entry, _, unit = text(browser, 'entry').partition(' (')
    name, _, value = entry.partition(': ')
    assert (name, unit) == ('dv.z/dt by r.RL_hip_joint', 'm/s^2) / (rad/s)')
    assert float(value) == pytest.approx(float(found.A[-1, 20, 30]), rel=1e-3)
    browser.find_element(By.CSS_SELECTOR, '[data-matrix=B]').click()
    ActionChains(browser).move_to_element(heat).perform()
    assert ' by tau.' in text(browser, 'entry')


def test_figure__moves_stops_and_turns(browser):
    wait, before = WebDriverWait(browser, 10), ink(browser, 'figure')
    wait.until(lambda _: ink(browser, 'figure') != before)
    browser.find_element(By.ID, 'play').click()
    wait.until(lambda _: ink(browser, 'figure') == ink(browser, 'figure'))
    still = ink(browser, 'figure')
    assert still[0] > 500
    figure = browser.find_element(By.ID, 'figure')
    ActionChains(browser).drag_and_drop_by_offset(figure, 90, 20).perform()
    assert ink(browser, 'figure') != still
    described = text(browser, 'mode-text')
    browser.find_elements(By.CSS_SELECTOR, '#modes button')[1].click()
    assert text(browser, 'mode-text') != described


def test_residuals__are_chosen(browser):
    (before,) = curves(browser, 'course').values()
    browser.find_elements(By.CSS_SELECTOR, '.residual')[9].click()
    assert text(browser, 'residual-text').startswith('dr.FR_hip_joint/dt: RMS ')
    (after,) = curves(browser, 'course').values()
    assert not np.array_equal(after, before)
    assert errors(browser) == []


def test_standing_robot__has_contacts_forces_and_growth(browser, robot, tmp_path):
    feet = [f'{leg}_foot point' for leg in ('FL', 'FR', 'RL', 'RR')]
    run(FOLDER / 'pushed', tmp_path / 'out.zarr', {'contacts': feet, 'max_rate': 100.0})
    found = open_dataset(str(tmp_path / 'out.zarr'))
    names = [foot.split()[0] for foot in feet]
    assert found.contact.values.tolist() == names
    assert found.contact_active.values.all()
    at_rest = np.abs(found.nu_dot.values).max(axis=1) < 0.5
    assert at_rest.any()
    loads = found.contact_load.values[at_rest].sum(axis=1)
    assert (loads > 0.9 * 9.81 * robot[0].total_mass).all()
    content = reported(tmp_path / 'out.zarr')
    browser.get((tmp_path / 'out.html').as_uri())
    held = curves(browser, 'timeline')
    assert list(held) == list(curves(browser, 'forces', 'force [N]')) == names
    assert all(len(times) == found.sizes['time'] for times in held.values())
    changed = [row.text for row in browser.find_elements(By.CSS_SELECTOR, '#changed tr')]
    assert sorted(changed) == [f'contacts {json.dumps(feet)}', 'max_rate 100.0']
    assert ('fastest growth' in text(browser, 'facts')) == content['still']
    assert errors(browser) == []


def test_page_without_eigenvalues__has_no_empty_cards(browser, tmp_path):
    run(FOLDER / 'pushed', tmp_path / 'out.zarr', eig_rate=0.0)
    assert reported(tmp_path / 'out.zarr')['spectrum'] == {'time': []}
    browser.get((tmp_path / 'out.html').as_uri())
    assert errors(browser) == []
    whole = browser.find_element(By.TAG_NAME, 'body').text
    for title in ('none', 'Eigenvalues over time', 'Stability margins', 'Conditioning', 'growth'):
        assert title not in whole


def test_modes__are_eigenvectors_on_the_skeleton(dataset, robot):
    model, description = robot
    found = open_dataset(str(dataset)).isel(time=100)
    state = model.state(found.H.values, found.s.values, found.v.values, found.r.values)
    A = found.A.values
    assert len(joined_links(model, urdf.read_text(description))) == len(model.frames) - 1
    np.testing.assert_allclose(origins(model, state)[0], state.H[:3, 3])
    modes = slow_or_unstable(model, state, A, 0.0)
    assert modes
    eigenvalues = np.linalg.eigvals(A)
    for mode in modes:
        assert (
            np.abs(eigenvalues - complex(mode['real'], mode['imag'])).min()
            < 1e-9 * np.abs(eigenvalues).max()
        )
        assert (mode['kind'] == 'unstable') == (mode['real'] > STILL)
        assert np.isfinite(mode['frames']).all()
        moved = np.linalg.norm(mode['frames'] - mode['frames'].mean(axis=0), axis=2).max()
        assert 0.01 * AMPLITUDE < moved < 3.0 * AMPLITUDE
    growth = [mode['real'] for mode in modes if mode['kind'] == 'unstable']
    assert growth == sorted(growth, reverse=True)


def test_instants__may_be_chosen(dataset, capsys):
    instants = reported(dataset, '--at', '0.2', '0.0311')['instants']
    assert [instant['time'] for instant in instants] == [0.032, 0.2]
    assert main(['report', str(dataset), '--at', '0.1', '7']) == 1
    assert 'instant 7.0 s is outside of the run' in capsys.readouterr().err


def test_discrete_run__is_reported_per_second(bag, tmp_path):
    """Its eigenvalues are those of steps: a mode that keeps its size has a one."""
    step = 0.004
    for form in ('continuous', 'discrete'):
        run(bag, tmp_path / f'{form}.zarr', {'form': form, 'dt': step})
    expected, found = (reported(tmp_path / f'{form}.zarr') for form in ('continuous', 'discrete'))
    eigenvalues = open_dataset(str(tmp_path / 'discrete.zarr')).eigenvalues
    largest = np.log(np.abs(eigenvalues.values)).max(axis=1) / step
    np.testing.assert_allclose(found['spectrum']['largest'], largest, rtol=1e-3, atol=1e-6)
    growth = expected['spectrum']['fastest']
    assert growth > 0.1
    assert found['spectrum']['fastest'] == pytest.approx(growth, rel=0.1)
    for mine, other in zip(found['instants'], expected['instants'], strict=True):
        assert [mode['kind'] for mode in mine['modes']] == [m['kind'] for m in other['modes']]


def test_worst_moment__is_in_the_curves_however_short(bag, tmp_path, monkeypatch):
    path = tmp_path / 'out.zarr'
    run(bag, path, eig_rate=500.0)
    group = zarr.open_group(path)
    assert group['eigenvalues'].shape[0] == 250
    group['eigenvalues'][7, 0] = 123.0 + 0.01j
    group['mass_matrix_condition'][9] = 1e7
    monkeypatch.setattr(report, 'POINTS', 20)
    spectrum = reported(path)['spectrum']
    assert len(spectrum['time']) == 20
    assert spectrum['fastest'] == spectrum['largest'][0] == spectrum['real'][0][0] == 123.0
    assert spectrum['time'][0] == 0.014
    assert spectrum['damping'][0] == pytest.approx(-1.0, abs=1e-4)
    assert spectrum['condition'][0] == 1e7
    assert spectrum['median_condition'] < 1e6


def test_names_like_tags__are_names_in_the_page(tmp_path):
    content = {'names': ['<!--<script>', '</script>', '{title}', '"content"', '&lt;']}
    write_page(tmp_path / 'page.html', 'report', 'a <title> of "content"', content)
    text = (tmp_path / 'page.html').read_text()
    (inside,) = re.findall(r'application/json">(.*?)</script>', text, re.S)
    assert json.loads(inside) == content
    assert '<' not in inside


class Runs:
    """Writes a file where it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.write_text, (Path(self.file), 'ran')


@pytest.mark.parametrize('verb', ['report', 'compare'])
def test_foreign_zarr__is_named_and_never_unpickled(dataset, tmp_path, capsys, verb, monkeypatch):
    monkeypatch.setattr(numcodecs.pickles, 'ALLOW_UNSAFE_PICKLE_DECODE', True, raising=False)
    proof = tmp_path / 'proof'
    with_objects = zarr.open_group(tmp_path / 'objects', mode='w', zarr_format=2)
    with_objects.attrs['format'] = store.FORMAT
    (tmp_path / 'objects' / 'time').mkdir()
    described = {'zarr_format': 2, 'shape': [1], 'chunks': [1], 'dtype': '|O', 'order': 'C'}
    described |= {'fill_value': None, 'compressor': None, 'filters': [{'id': 'pickle'}]}
    (tmp_path / 'objects/time/.zarray').write_text(json.dumps(described))
    (tmp_path / 'objects/time/0').write_bytes(pickle.dumps(Runs(proof), protocol=4))
    zarr.open_group(tmp_path / 'foreign', mode='w')
    damaged = zarr.open_group(tmp_path / 'damaged', mode='w')
    damaged.attrs.update({'format': store.FORMAT, 'complete': True})
    packed = zarr.open_group(tmp_path / 'packed', mode='w')
    packed.attrs['format'] = store.FORMAT
    packed.create_array('time', shape=(2,), dtype=float, compressors=zarr.codecs.GzipCodec())
    (tmp_path / 'nothing').mkdir()
    for name, chunk in (('cut', 'time/c/0'), ('late', 'A/c/0/0/0')):
        shutil.copytree(dataset, tmp_path / name)
        (tmp_path / name / chunk).write_bytes(bytes(20))
    shutil.copytree(dataset, tmp_path / 'less')
    shutil.rmtree(tmp_path / 'less' / 'A')
    for name, said in (
        ('nothing', 'is no dataset'),
        ('objects', 'is no dataset'),
        ('foreign', "has format None, expected 'geolin_ros dataset 3'"),
        ('damaged', 'is a damaged dataset'),
        ('cut', 'is a damaged dataset (RuntimeError: '),
        ('late', 'late is a damaged dataset (RuntimeError: '),
        ('less', 'less is a damaged dataset ('),
        ('packed', "array 'time' is stored by gzip, expected"),
    ):
        paths = [str(tmp_path / name)] * (2 if verb == 'compare' else 1)
        assert main([verb, *paths]) == 1
        assert said in capsys.readouterr().err
    assert not proof.exists()
