# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium for the pages of the package, without a network."""

import shutil
from contextlib import contextmanager

import pytest
from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

PATIENCE = 240.0
"""With a page on a busy machine [s]."""


@contextmanager
def open_browser(profile, *arguments, hosts='MAP * ~NOTFOUND', size='1280,2400'):
    """Open a window; ``profile`` is an empty folder, ``arguments`` are Chromium's."""
    chromium, driver = shutil.which('chromium'), shutil.which('chromedriver')
    if chromium is None or driver is None:
        pytest.skip('chromium and chromium-driver are not installed')
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        'headless=new', 'no-sandbox', 'disable-dev-shm-usage', f'window-size={size}',
        f'host-resolver-rules={hosts}', f'user-data-dir={profile}', *arguments,
    ):  # fmt: skip
        options.add_argument(f'--{argument}')
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    window = webdriver.Chrome(options, webdriver.ChromeService(driver))
    try:
        yield window
    finally:
        window.quit()


def errors(browser):
    """Return what the console complains of since the last call."""
    return [entry for entry in browser.get_log('browser') if entry['level'] == 'SEVERE']


def wait(browser, condition, patience=PATIENCE):
    """Wait until something is so; what the page has not drawn yet may be missing."""
    ignored = Exception  # of scripts about elements that are not there yet
    try:
        WebDriverWait(browser, patience, 0.2, [ignored]).until(lambda _: condition())
    except TimeoutException as error:
        text = browser.find_element(By.TAG_NAME, 'body').text
        raise AssertionError(
            f'after {patience:g} s the page shows {text!r}, its console {errors(browser)}'
        ) from error


def button(text):
    """Return the path of the button or folder of a name."""
    return f"//div[text()='{text}'] | //button[normalize-space(.)='{text}']"


def click(browser, text):
    """Click a button or folder; by a script, for the panel may be scrolled."""
    found = browser.find_element(By.XPATH, button(text))
    browser.execute_script('arguments[0].click();', found)
