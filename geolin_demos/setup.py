# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Packaging: a plain Python package that is an ament_python package as well."""

from glob import glob

from setuptools import find_packages, setup

name = 'geolin_demos'

setup(
    name=name,
    version='0.1.0',
    description='geolin_ros at work: a checked demo, robots that balance and walk in MuJoCo',
    maintainer='geolin_ros contributors',
    maintainer_email='geolin_ros@example.org',
    license='Apache-2.0',
    python_requires='>=3.10',
    packages=find_packages(include=[name, f'{name}.*']),
    # An editable installation is a line in a .pth file then: the folder above has the same name.
    package_dir={'': '.'},
    package_data={name: ['py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{name}']),
        (f'share/{name}', ['package.xml']),
        (f'share/{name}/launch', glob('launch/*.launch.py')),
    ],
    zip_safe=False,
    install_requires=['geolin_ros[plot]', 'geolin_tools', 'numpy>=1.26'],
    extras_require={
        'simulation': ['geolin_ros[control,estimation,mujoco]', 'geolin_walking[control]']
    },
)
