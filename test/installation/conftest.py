# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import pytest
from support import installation


@pytest.fixture(scope='session')
def installed(tmp_path_factory):
    """The package installed by colcon."""
    return installation.Installation(installation.install(tmp_path_factory.mktemp('prefix')))
