# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Packaging: a plain Python package that is an ament_python package as well."""

from setuptools import find_packages, setup

name = 'geolin_walking'

setup(
    name=name,
    version='0.1.0',
    description='Legged robots walk by model predictive control on A and B of geolin_ros',
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
    ],
    zip_safe=False,
    install_requires=['geolin_control', 'geolin_ros', 'numpy>=1.26'],
    entry_points={
        'console_scripts': [f'walking_node = {name}.programs:walking_node'],
        'geolin.verbs': [f'{name} = {name}.cli'],
    },
    extras_require={'control': ['geolin_ros[control]']},
)
