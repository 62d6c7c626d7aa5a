# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`geolin view` of a robot that stands still, looked at in a browser."""

import re
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from scipy.optimize import linear_sum_assignment
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.browser import click, errors, wait
from support.pinocchio_oracle import PinocchioOracle
from support.view import serving

from geolin_ros import State, TreeModel, robots

START, MOVED = 0.4, 0.9
"""Of the left front thigh [rad]."""
MARKERS = """
const plot = Array.from(document.querySelectorAll('.js-plotly-plot')).find(
          plot => plot.data[0].type === 'scatter'), x = plot._fullLayout.xaxis,
      y = plot._fullLayout.yaxis, traces = plot.querySelectorAll('.scatterlayer .trace');
return Array.from(traces[traces.length - 1].querySelectorAll('.point')).map(point => {
    const [, left, top] = point.getAttribute('transform').match(/\\(([-\\d.]+),([-\\d.]+)/);
    const [wide, high] = [x, y].map(axis => Math.abs(axis.p2c(1) - axis.p2c(0)));
    return [x.p2c(+left), y.p2c(+top), wide, high];
});
"""
"""Where the marks of eigenvalues are drawn, by the axes beside them, and a pixel of these."""
INPUT = """
let row = Array.from(document.querySelectorAll('label')).find(
    label => label.textContent.trim() === arguments[0]);
while (row && !row.querySelector('input:not([type=hidden])')) row = row.parentElement;
return row && row.querySelector('input:not([type=hidden])');
"""
CHOOSE = """
const option = Array.from(document.querySelectorAll('[role=option]')).find(
    option => option.textContent.startsWith(arguments[0]));
option.click();
return true;
"""


@pytest.fixture(scope='module')
def page(browser):
    """The page of a quadruped on a fixed base, loaded, its joints unfolded."""
    posture = f'FL_thigh_joint={START}'
    with serving('quadruped', '--base', 'fixed', '--posture', posture) as url:
        browser.get(url)
        wait(browser, lambda: browser.execute_script(MARKERS))
        click(browser, 'joints')
        wait(browser, lambda: browser.execute_script(INPUT, 'FL_thigh_joint'))
        yield browser


def open_tab(browser, name):
    """Click a tab, which wants a pointer."""
    tab = browser.find_element(By.CSS_SELECTOR, f'[role=tab][title="{name}"]')

    def is_open():
        tab.click()
        return tab.get_attribute('aria-selected') == 'true'

    wait(browser, is_open)


def set_value(browser, label, value):
    """Write a number into the field beside a slider."""
    field = browser.execute_script(INPUT, label)
    field.send_keys(Keys.CONTROL + 'a', Keys.NULL, str(value), Keys.ENTER)


def picture(browser):
    """Return the 3D view as pixels (h, w, 3), its corner with the panel left out."""
    image = np.array(Image.open(BytesIO(browser.get_screenshot_as_png())).convert('RGB'))
    return image[:, :560].astype(int)


def eigenvalues(thigh):
    """Return the eigenvalues of Pinocchio's A about the posture, under efforts that hold it."""
    path = robots.path('quadruped')
    model = TreeModel.from_urdf(path, base='fixed')
    s = np.clip(np.zeros(model.n), model.limits.lower, model.limits.upper)
    s[model.joint_index('FL_thigh_joint')] = thigh
    state = State(np.eye(4), s, np.zeros(6), np.zeros(model.n))
    oracle = PinocchioOracle.read_urdf(path, model)
    tau = oracle.inverse_dynamics(state, np.zeros(model.n))
    return np.linalg.eigvals(oracle.linearization(state, tau)[0])


def farthest(marks, values):
    """Return the largest distance between marks and eigenvalues, paired, in pixels."""
    marks = np.array(marks)
    if len(marks) != len(values):
        return np.inf
    x = np.abs(marks[:, :1] - values.real) / marks[:, 2:3]
    y = np.abs(marks[:, 1:2] - values.imag) / marks[:, 3:]
    distance = np.hypot(x, y)
    return float(distance[linear_sum_assignment(distance)].max())


def stand(browser, values):
    """Wait until every eigenvalue stands where NumPy says, within half a pixel."""
    wait(browser, lambda: farthest(browser.execute_script(MARKERS), values) < 0.6)


def test_slider__moves_robot_and_eigenvalues(page):
    before, after = eigenvalues(START), eigenvalues(MOVED)
    stand(page, before)
    assert farthest(page.execute_script(MARKERS), after) > 2.0
    still = picture(page)
    assert float(page.execute_script(INPUT, 'FL_thigh_joint').get_attribute('value')) == START
    set_value(page, 'FL_thigh_joint', MOVED)
    stand(page, after)
    wait(page, lambda: np.sum(np.abs(picture(page) - still).max(axis=2) > 30) > 500)
    click(page, 'back to the start')
    stand(page, before)
    click(page, 'joints')  # folded again
    assert errors(page) == []


def test_mode__swings_with_its_name_frequency_and_time_constant(page):
    open_tab(page, 'modes')
    click(page, 'analyse the posture of now')
    wait(page, lambda: 'states controllable' in page.find_element(By.TAG_NAME, 'body').text)
    still = picture(page)
    field = page.execute_script(INPUT, 'mode')
    field.click()
    wait(page, lambda: page.execute_script(CHOOSE, '1: '))
    said = re.compile(r'in [\d.e+-]+ s, swings at [\d.e+-]+ rad/s, .*position of \w+')
    wait(page, lambda: said.search(page.find_element(By.TAG_NAME, 'body').text))
    wait(page, lambda: np.sum(np.abs(picture(page) - still).max(axis=2) > 30) > 500)
    assert errors(page) == []
