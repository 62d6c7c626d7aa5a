# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of a report, looked at in a browser."""

import json
import pickle
import re
from pathlib import Path

import numcodecs
import numpy as np
import pytest
import zarr
from geolin_tools.modes import AMPLITUDE, Skeleton, slow_or_unstable
from geolin_tools.reports import report
from geolin_tools.reports.web_page import write_page
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait
from support.bags import FOLDER, Messages, Sample, write_bag
from support.browser import errors, open_browser
from support.datasets import run

from geolin_ros import urdf
from geolin_ros.cli import main
from geolin_ros.datasets import open_dataset
from geolin_ros.offline import store
from geolin_ros.offline.linearize import Sampling
from geolin_ros.stream.analysis import STILL
from geolin_ros.stream.parameters.file import default_values

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

CURVES = """
const u = charts[arguments[0]];
return u.series.slice(1).map((one, k) => [one.label, one.show, u.data[k + 1].map((y, i) => {
    if (y === null) return null;
    const [x, at] = [u.valToPos(u.data[0][i], 'x', true), u.valToPos(y, 'y', true)];
    const pixels = u.ctx.getImageData(Math.round(x) - 1, Math.round(at) - 1, 3, 3).data;
    return [at, Math.max(...pixels.filter((_, c) => c % 4 === 3))];
})]);
"""
"""Of a chart: name of each curve, whether it is shown, height and ink of each point."""
LINE = """
const [name, x] = arguments, u = charts[name];
return [...u.ctx.getImageData(Math.round(u.valToPos(x, 'x', true)), u.bbox.top + 1, 1, 1).data];
"""


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


def reported(path):
    """Return the numbers inside of the page about a dataset."""
    page = path.with_suffix('.html')
    assert main(['report', str(path), '-o', str(page), '--instants', '2']) == 0
    return json.loads(re.search(r'application/json">(.*?)</script>', page.read_text(), re.S)[1])


def text(browser, name):
    return browser.find_element(By.ID, name).text


def ink(browser, name):
    """Return how many pixels of a canvas are drawn, and a hash of all."""
    return tuple(browser.execute_script(INK, browser.find_element(By.ID, name)))


def changes(browser, name):
    """Wait until a canvas looks different."""
    before = ink(browser, name)
    WebDriverWait(browser, 10).until(lambda _: ink(browser, name) != before)


def test_page__shows_the_run(browser):
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
    assert errors(browser) == []


def test_page__needs_nothing_else(browser, page):
    loaded = browser.execute_script('return performance.getEntriesByType("resource").length')
    assert loaded == 0
    content = page.read_text()
    assert not re.search(r'(src|href)="(?!data:)', content)
    assert 'http' not in content.replace('https://github.com/leeoniya/uPlot', '')
    assert 'Copyright (c) 2022 Leon Sorokin' in content
    assert page.stat().st_size < 5e6


def curves(browser, name):
    """Return the heights of the points of the curves of a chart that are shown, by name."""
    found = {}
    for label, is_shown, points in browser.execute_script(CURVES, name):
        known = [point for point in points if point is not None]
        if is_shown:
            assert all(ink > 0 for _, ink in known), f'{name}: {label} is not drawn'
            found[label] = np.array([height for height, _ in known])
    return found


def heights(browser, name):
    """Return where the points of the only curve of a chart are."""
    (found,) = curves(browser, name).values()
    return found


def titles(browser, name):
    return browser.execute_script('return charts[arguments[0]].axes.map((a) => a.label)', name)


def texts(browser, selector):
    return [found.text for found in browser.find_elements(By.CSS_SELECTOR, selector)]


def test_axes__have_titles_with_units_and_round_numbers(browser):
    for name, title in (
        ('growth', 'fastest growth [1/s]'),
        ('damping', 'least damping ratio [1]'),
        ('condition', 'condition number [1]'),
        ('course', 'RMS of dv.x/dt [m/s^2]'),
    ):
        assert titles(browser, name) == ['time [s]', title]
    ticks = [
        tick
        for name in ('growth', 'course')
        for axis in browser.execute_script(
            'return charts[arguments[0]].axes.map((a) => a._values)', name
        )
        for tick in axis
    ]
    assert len(ticks) > 8
    for tick in ticks:
        assert len(f'{float(tick):e}'.partition('e')[0].rstrip('0').replace('-', '')) <= 4, tick
    assert '0' in ticks


def test_curves__are_drawn_from_the_numbers(browser, dataset):
    found = open_dataset(str(dataset))
    eigenvalues = found.eigenvalues.values
    swinging = np.where(np.abs(eigenvalues.imag) > STILL, eigenvalues, np.nan)
    damping = np.array([np.nanmin(row) for row in -swinging.real / np.abs(swinging)])
    residual = found.residual[:, 0].values
    for name, values in (
        ('growth', eigenvalues.real.max(axis=1)),
        ('damping', damping),
        ('condition', np.log10(found.mass_matrix_condition.values)),
        ('course', [np.sqrt(np.nanmean(b**2)) for b in np.array_split(residual, 100)]),
    ):
        y = heights(browser, name)
        assert len(y) == len(values) >= 20, name
        assert np.corrcoef(-y, values)[0, 1] > (0.9 if name == 'course' else 0.999), name
    assert sum(map(len, curves(browser, 'plane').values())) == 36


def test_time__is_chosen_by_the_slider(browser):
    before = text(browser, 'clock-text')
    red = [208, 74, 43, 255]
    slider = browser.find_element(By.ID, 'clock')
    assert browser.execute_script(LINE, 'growth', 0.0) == red
    assert browser.execute_script(LINE, 'growth', 0.48) != red
    slider.send_keys(Keys.END)
    assert text(browser, 'clock-text') != before
    assert text(browser, 'clock-text').startswith('0.48 s')
    assert browser.execute_script(LINE, 'growth', 0.0) != red
    assert browser.execute_script(LINE, 'growth', 0.48) == red


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
    value = float(found.A[-1, 20, 30])
    shown = re.fullmatch(
        r'dv\.z/dt by r\.RL_hip_joint: (\S+) \(m/s\^2\) / \(rad/s\)', text(browser, 'entry')
    )
    assert shown, text(browser, 'entry')
    assert float(shown[1]) == pytest.approx(value, rel=1e-3)
    # the names stand under the pointer, and go with it
    tip = browser.find_element(By.ID, 'tip')
    assert tip.text.splitlines()[:2] == ['row 20: dv.z/dt', 'column 30: r.RL_hip_joint']
    box = browser.execute_script('return arguments[0].getBoundingClientRect().toJSON()', heat)
    assert (
        0
        < tip.rect['y'] - browser.execute_script('return scrollY') - box['top'] - 20.5 * size
        < 40
    )
    assert 0 < tip.rect['x'] - box['left'] - 30.5 * size < 40
    ActionChains(browser).move_to_element(browser.find_element(By.ID, 'robot')).perform()
    assert not tip.is_displayed()
    browser.find_element(By.CSS_SELECTOR, '[data-matrix=B]').click()
    ActionChains(browser).move_to_element(heat).perform()
    assert ' by tau.' in text(browser, 'entry')
    browser.find_element(By.CSS_SELECTOR, '[data-matrix=A]').click()
    slider.send_keys(Keys.HOME)


def test_figure__moves_stops_and_turns(browser):
    changes(browser, 'figure')
    browser.find_element(By.ID, 'play').click()
    assert text(browser, 'play') == 'play'
    WebDriverWait(browser, 5).until(lambda _: ink(browser, 'figure') == ink(browser, 'figure'))
    still = ink(browser, 'figure')
    assert still[0] > 500
    figure = browser.find_element(By.ID, 'figure')
    ActionChains(browser).drag_and_drop_by_offset(figure, 90, 20).perform()
    assert ink(browser, 'figure') != still
    modes = browser.find_elements(By.CSS_SELECTOR, '#modes button')
    assert len(modes) >= 2
    described, still = text(browser, 'mode-text'), ink(browser, 'figure')
    modes[1].click()
    assert text(browser, 'mode-text') != described
    WebDriverWait(browser, 5).until(lambda _: ink(browser, 'figure') != still)
    browser.find_element(By.ID, 'play').click()
    changes(browser, 'figure')


def press(browser, group, quantity):
    selector = f'[data-group={group}] [data-quantity="{quantity}"]'
    browser.find_element(By.CSS_SELECTOR, selector).click()


def test_joints_and_base__are_drawn_and_chosen(browser, dataset):
    found = open_dataset(str(dataset))
    for quantity, values, unit in (
        ('rate', found.r, 'rad/s or m/s'),
        ('effort', found.tau, 'N m or N'),
        ('position', found.s, 'rad or m'),
    ):
        press(browser, 'joints', quantity)
        shown = curves(browser, 'joints')
        assert list(shown) == found.joint.values.tolist()
        for k, y in enumerate(shown.values()):
            assert np.corrcoef(-y, values.values[:, k])[0, 1] > 0.99
        assert titles(browser, 'joints') == ['time [s]', f'{quantity} [{unit}]']
    card = browser.find_element(By.CSS_SELECTOR, '[data-group=joints]').rect
    for name in browser.find_elements(By.CSS_SELECTOR, '[data-group=joints] .u-label'):
        assert name.rect['x'] + name.rect['width'] < card['x'] + card['width']
    label = "//*[@id='joints']//*[@class='u-label' and text()='RL_hip_joint']"
    browser.find_element(By.XPATH, label).click()
    assert list(curves(browser, 'joints')) == ['RL_hip_joint']
    press(browser, 'joints', 'rate')
    assert list(curves(browser, 'joints')) == ['RL_hip_joint']
    browser.find_element(By.XPATH, label).click()
    assert list(curves(browser, 'joints')) == found.joint.values.tolist()
    press(browser, 'base', 'angular velocity in base axes')
    shown = curves(browser, 'base')
    assert list(shown) == ['x', 'y', 'z']
    for k, y in enumerate(shown.values()):
        assert np.corrcoef(-y, found.v.values[:, 3 + k])[0, 1] > 0.99
    press(browser, 'base', 'position')
    assert np.corrcoef(-curves(browser, 'base')['z'], found.H.values[:, 2, 3])[0, 1] > 0.99
    for title in ('Contact forces', 'Contacts over time'):  # it flies
        assert title not in browser.find_element(By.TAG_NAME, 'body').text
    assert errors(browser) == []


def test_parameters__are_shown_the_changed_ones_first(browser, dataset):
    values = open_dataset(str(dataset)).attrs['parameters']
    known = default_values()
    expected = [
        f'{name} {json.dumps(value)}'
        for name, value in values.items()
        if value != known[name] and name != 'robot_description'
    ]
    changed = texts(browser, '#changed tr')
    assert changed == (expected or ['all at their defaults'])
    browser.find_element(By.TAG_NAME, 'summary').click()
    shown = texts(browser, '#defaults tr')
    assert 'max_skew 0.05' in shown
    assert len(shown) + len(changed) >= len(values) - 1


def test_robot_at_rest__has_a_headline_about_growth(browser, page, robot, samples, tmp_path):
    """Without weight nothing moves it."""
    rest = [Sample(s.stamp, robot[0].neutral_state(), 0.0 * s.tau) for s in samples[:50]]
    run(
        write_bag(tmp_path / 'bag', Messages(robot[0]).of_samples(rest), robot[1]),
        tmp_path / 'out.zarr',
        {'gravity': [0.0, 0.0, 0.0]},
    )
    assert reported(tmp_path / 'out.zarr')['still']
    browser.get((tmp_path / 'out.html').as_uri())
    assert 'fastest growth' in text(browser, 'facts')
    assert 'The robot moves' not in text(browser, 'margins')
    browser.get(page.as_uri())


def test_standing_robot__has_contacts_forces_and_growth(browser, page, robot, tmp_path):
    feet = [f'{leg}_foot point' for leg in ('FL', 'FR', 'RL', 'RR')]
    run(FOLDER / 'pushed', tmp_path / 'out.zarr', {'contacts': feet, 'max_rate': 100.0})
    found = open_dataset(str(tmp_path / 'out.zarr'))
    assert found.contact.values.tolist() == [foot.split()[0] for foot in feet]
    assert found.contact_active.values.all()
    weight = 9.81 * robot[0].total_mass
    at_rest = np.abs(found.nu_dot.values).max(axis=1) < 0.5
    assert at_rest.any()
    loads = found.contact_load.values[at_rest].sum(axis=1)
    assert (loads > 0.9 * weight).all()
    content = reported(tmp_path / 'out.zarr')
    assert content['hint'] == ''
    browser.get((tmp_path / 'out.html').as_uri())
    assert errors(browser) == []
    held = curves(browser, 'timeline')
    assert list(held) == [foot.split()[0] for foot in feet]
    assert all(len(times) == found.sizes['time'] for times in held.values())
    assert list(curves(browser, 'forces')) == [foot.split()[0] for foot in feet]
    assert titles(browser, 'forces') == ['time [s]', 'force [N]']
    changed = texts(browser, '#changed tr')
    assert sorted(changed) == [f'contacts {json.dumps(feet)}', 'max_rate 100.0']
    assert ('fastest growth' in text(browser, 'facts')) == content['still']
    browser.get(page.as_uri())


def test_residuals__are_drawn_and_chosen(browser, dataset):
    bars = browser.find_elements(By.CSS_SELECTOR, '.residual')
    assert len(bars) == 18
    found = open_dataset(str(dataset))
    shares = np.sqrt((found.residual**2).mean('time') / (found.nu_dot**2).mean('time')).values
    widths = [
        float(bar.find_element(By.TAG_NAME, 'i').get_attribute('style').split()[1].rstrip('%;'))
        for bar in bars
    ]
    np.testing.assert_allclose(widths, 100 * shares / shares.max(), rtol=2e-3)
    assert text(browser, 'hint') == ''
    before = heights(browser, 'course')
    bars[9].click()
    assert text(browser, 'residual-text').startswith('dr.FR_hip_joint/dt: RMS ')
    assert not np.array_equal(heights(browser, 'course'), before)
    assert errors(browser) == []


def test_modes__are_eigenvectors_on_the_skeleton(dataset, robot):
    model, description = robot
    found = open_dataset(str(dataset)).isel(time=100)
    state = model.state(found.H.values, found.s.values, found.v.values, found.r.values)
    A = found.A.values
    skeleton = Skeleton(model, urdf.read_text(description))
    assert len(skeleton.edges) == len(skeleton.names) - 1
    np.testing.assert_allclose(skeleton.points(state)[0], state.H[:3, 3])
    modes = slow_or_unstable(model, skeleton, state, A, found.attrs['settings'])
    assert modes
    eigenvalues = np.linalg.eigvals(A)
    for mode in modes:
        assert np.abs(eigenvalues - mode.eigenvalue).min() < 1e-9 * np.abs(eigenvalues).max()
        assert (mode.kind == 'unstable') == (mode.eigenvalue.real > STILL)
        assert np.isfinite(mode.frames).all()
        moved = np.linalg.norm(mode.frames - mode.frames.mean(axis=0), axis=2).max()
        assert 0.01 * AMPLITUDE < moved < 3.0 * AMPLITUDE
    growth = [mode.eigenvalue.real for mode in modes if mode.kind == 'unstable']
    assert growth == sorted(growth, reverse=True)


def test_page_without_eigenvalues__has_no_empty_cards(browser, page, tmp_path):
    """A robot that stands, linearized as if nothing held it: a hint says so."""
    run(FOLDER / 'pushed', tmp_path / 'out.zarr', sampling=Sampling(eig_rate=0.0))
    assert reported(tmp_path / 'out.zarr')['spectrum'] == {'time': []}
    browser.get((tmp_path / 'out.html').as_uri())
    assert errors(browser) == []
    whole = browser.find_element(By.TAG_NAME, 'body').text
    assert 'none' not in whole
    assert 'Residuals' in whole
    for title in ('Eigenvalues over time', 'Stability margins', 'Conditioning', 'growth'):
        assert title not in whole
    assert 'no contacts are named' in text(browser, 'hint')
    browser.get(page.as_uri())


def test_instants__may_be_chosen(dataset, tmp_path, capsys):
    command = ['report', str(dataset), '-o', str(tmp_path / 'page.html'), '--at']
    assert main([*command, '0.2', '0.0311']) == 0
    page = (tmp_path / 'page.html').read_text()
    found = json.loads(re.search(r'application/json">(.*?)</script>', page, re.S)[1])
    assert [instant['time'] for instant in found['instants']] == [0.032, 0.2]
    assert main([*command, '0.1', '7']) == 1
    assert 'instant 7.0 s is outside of the run, expected 0 to 0.498 s' in capsys.readouterr().err


def test_discrete_run__is_reported_per_second(bag, tmp_path):
    """Its eigenvalues are those of steps: a mode that keeps its size has a one."""
    step = 0.004
    for form in ('continuous', 'discrete'):
        run(bag, tmp_path / f'{form}.zarr', {'form': form, 'dt': step})
    expected, found = (reported(tmp_path / f'{form}.zarr') for form in ('continuous', 'discrete'))
    eigenvalues = open_dataset(str(tmp_path / 'discrete.zarr')).eigenvalues
    assert eigenvalues.attrs['units'] == '1'
    largest = np.log(np.abs(eigenvalues.values)).max(axis=1) / step
    np.testing.assert_allclose(found['spectrum']['largest'], largest, rtol=1e-3, atol=1e-6)
    growth = expected['spectrum']['fastest']
    assert growth > 0.1
    assert found['spectrum']['fastest'] == pytest.approx(growth, rel=0.1)
    for mine, other in zip(found['instants'], expected['instants'], strict=True):
        assert [mode['kind'] for mode in mine['modes']] == [m['kind'] for m in other['modes']]
        assert mine['modes']
    assert found['rows'] == found['columns'] == expected['columns']
    assert found['residuals'][0]['unit'] == expected['residuals'][0]['unit'] == 'm/s^2'


def test_worst_moment__is_in_the_curves_however_short(bag, tmp_path, monkeypatch):
    path = tmp_path / 'out.zarr'
    run(bag, path, sampling=Sampling(eig_rate=500.0))
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
def test_foreign_zarr__is_named_and_never_unpickled(tmp_path, capsys, verb, monkeypatch):
    monkeypatch.setattr(numcodecs.pickles, 'ALLOW_UNSAFE_PICKLE_DECODE', True, raising=False)
    proof = tmp_path / 'proof'
    with_objects = zarr.open_group(tmp_path / 'objects', mode='w', zarr_format=2)
    with_objects.attrs['format'] = store.FORMAT
    (tmp_path / 'objects' / 'time').mkdir()
    described = {'zarr_format': 2, 'shape': [1], 'chunks': [1], 'dtype': '|O', 'order': 'C'}
    described |= {'fill_value': None, 'compressor': None, 'filters': [{'id': 'pickle'}]}
    (tmp_path / 'objects/time/.zarray').write_text(json.dumps(described))
    (tmp_path / 'objects/time/0').write_bytes(pickle.dumps(Runs(proof), protocol=4))
    foreign = zarr.open_group(tmp_path / 'foreign', mode='w')
    foreign.create_array('temperature', data=np.zeros(3))
    damaged = zarr.open_group(tmp_path / 'damaged', mode='w')
    damaged.attrs.update({'format': store.FORMAT, 'complete': True})
    packed = zarr.open_group(tmp_path / 'packed', mode='w')
    packed.attrs['format'] = store.FORMAT
    packed.create_array('time', shape=(2,), dtype=float, compressors=zarr.codecs.GzipCodec())
    for name, said in (
        ('objects', 'is no dataset'),
        ('foreign', "has format None, expected 'geolin_ros dataset 3'"),
        ('damaged', 'is a damaged dataset'),
        ('packed', "array 'time' is stored by gzip, expected"),
    ):
        paths = [str(tmp_path / name)] * (2 if verb == 'compare' else 1)
        assert main([verb, *paths]) == 1
        assert said in capsys.readouterr().err
    assert not proof.exists()


def test_nothing__is_no_report(tmp_path, capsys):
    assert main(['report', str(tmp_path)]) == 1
    assert 'is no dataset' in capsys.readouterr().err
    assert main(['report', str(tmp_path), '--instants', '0']) == 1
    assert 'instants is 0, expected at least 1' in capsys.readouterr().err
