# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The public names: all there, each from its home, and none loaded before it is asked for."""

import contextlib
import inspect
import subprocess
import sys

import pytest

import geolin_ros


def run(code):
    return subprocess.check_output([sys.executable, '-c', code], text=True).strip()


@pytest.mark.parametrize('name', geolin_ros.__all__)
def test_public_name__comes_from_its_home(name):
    value = getattr(geolin_ros, name)
    assert value.__name__ == name
    assert geolin_ros._HOMES[name] in (value.__module__, value.__module__.rpartition('.')[0])
    assert name in dir(geolin_ros)


def test_homes__are_those_of_all_public_names():
    assert sorted(geolin_ros._HOMES) == sorted(geolin_ros.__all__)


def test_names__are_there_without_extras_and_say_what_they_lack():
    code = (
        'import importlib.util as u; find = u.find_spec\n'
        'u.find_spec = lambda name: None if name == "dask" else find(name)\n'
        'from geolin_ros import *\n'
        'try: open_dataset("run.zarr")\n'
        'except Exception as error: print(type(error).__name__, error)'
    )
    said = run(code)
    assert said.startswith('ConfigurationError package dask is not installed')
    assert 'pip install "geolin_ros[offline]", with Python 3.11 or later' in said


def test_unknown_name__is_an_attribute_error():
    with pytest.raises(AttributeError, match='nothing'):
        _ = geolin_ros.nothing


def test_import__loads_neither_numpy_nor_numba():
    code = 'import sys, geolin_ros; print({"numpy", "numba"} & set(sys.modules))'
    assert run(code) == 'set()'


def test_node__keeps_blas_to_one_thread():
    pytest.importorskip('geolin_msgs.msg')
    code = (
        'import os; os.environ.pop("OPENBLAS_NUM_THREADS", None); import sys, geolin_ros.ros; '
        'print("numpy" in sys.modules, os.environ["OPENBLAS_NUM_THREADS"])'
    )
    assert run(code) == 'False 1'


def test_packages__are_there_after_import_and_loaded_when_asked_for():
    code = (
        'import sys, geolin_ros; print("geolin_ros.control" in sys.modules, '
        'geolin_ros.robots.path("quadruped").stem, geolin_ros.control.lqr.design.__name__)'
    )
    assert run(code) == 'False quadruped design'


@pytest.mark.parametrize('name', geolin_ros.__all__)
def test_signature__is_as_short_as_it_is_written(name):
    value = getattr(geolin_ros, name)
    methods = vars(value).values() if inspect.isclass(value) else ()
    for function in (value, *filter(inspect.isfunction, methods)):
        with contextlib.suppress(ValueError):
            assert 'numpy._typing' not in str(inspect.signature(function)), function


def test_signature_of_a_model__is_short_and_checks_its_fields():
    assert str(inspect.signature(geolin_ros.TreeModel)) == '(**fields)'
    with pytest.raises(TypeError, match="unexpected keyword argument 'mass'"):
        geolin_ros.TreeModel(mass=1.0)
