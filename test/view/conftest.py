# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import sys

import pytest
from support.browser import open_browser

# xarray looks for a package of this name, and must not find the folder of tests.
sys.modules.setdefault('sparse', None)

# Drawing in software on a busy machine takes longer than Chromium grants a graphics process.
WEBGL = 'use-angle=swiftshader', 'enable-unsafe-swiftshader', 'disable-gpu-watchdog'
LOOPBACK = 'MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'


@pytest.fixture(scope='module')
def browser(tmp_path_factory):
    """Chromium with WebGL in software, which finds this machine alone."""
    profile = tmp_path_factory.mktemp('profile')
    with open_browser(profile, *WEBGL, hosts=LOOPBACK, size='900,600') as window:
        yield window
