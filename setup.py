# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Packaging: a plain Python package that is an ament_python package as well."""

from glob import glob

from setuptools import find_packages, setup

name = 'geolin_ros'

# zarr of version 3 needs Python 3.11.
OFFLINE = [
    f'{requirement}; python_version >= "3.11"'
    for requirement in (
        'dask>=2024.8',
        'distributed>=2024.8',
        'fsspec>=2024.6',
        'h5py>=3.11',
        'rosbags>=0.11',
        'tqdm>=4.60',
        'xacro>=2.0',
        'xarray>=2024.10',
        'zarr>=3.0.8',
    )
]

MESHES = ['pycollada>=0.8', 'trimesh>=4.4']

# What parts of the library need, see geolin_ros/optional.py.
EXTRAS = {
    'control': ['geolin_control', 'proxsuite>=0.6', 'scipy>=1.11'],
    'estimation': ['geolin_estimation', 'scipy>=1.11'],
    'meshes': MESHES,
    'mujoco': ['mujoco>=3.2'],
    'offline': OFFLINE,
    'plot': ['matplotlib>=3.6'],
    'view': ['plotly>=6.0', 'scipy>=1.11', 'viser>=1.0', *MESHES],
    'walking': ['geolin_walking[control]'],
}

# With the extra `offline`: the package that fsspec asks for.
S3 = ['s3fs>=2024.6; python_version >= "3.11"']

setup(
    name=name,
    version='0.1.0',
    description='Geometric linearization of moving-base robots in ROS 2: exact A and B on SE(3)',
    maintainer='geolin_ros contributors',
    maintainer_email='geolin_ros@example.org',
    license='Apache-2.0',
    classifiers=[f'Programming Language :: Python :: 3.{minor}' for minor in (11, 12, 13)],
    python_requires='>=3.10',
    packages=find_packages(include=[name, f'{name}.*']),
    package_data={
        name: [
            *('moved.txt', 'py.typed', 'robots/*.urdf', 'offline/msg/*.msg'),
        ]
    },
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{name}']),
        (f'share/{name}', ['package.xml']),
        (f'share/{name}/config', glob('config/*.yaml')),
        (f'share/{name}/config/layouts', glob('config/layouts/*')),
        (f'share/{name}/config/recordings', glob('config/recordings/*.yaml')),
        (f'share/{name}/config/security', glob('config/security/*.xml')),
        (f'share/{name}/launch', glob('launch/*.launch.py')),
        (f'share/{name}/robots', glob(f'{name}/robots/*.urdf')),
        *(('bin', [script]) for script in glob('bin/*')),  # of colcon/geolin_ros
        *((f'lib/{name}', [script]) for script in glob('lib/*')),  # programs that have moved
    ],
    zip_safe=False,
    # rclpy and the messages come with ROS 2, or from requirements/ros-kilted.txt.
    install_requires=[
        'numba>=0.61',
        'numpy>=1.26',
        'pyyaml>=6.0',
    ],
    extras_require={
        **EXTRAS,
        's3': S3,
        'tools': [
            'argcomplete>=3.1',
            'geolin_tools',
            *EXTRAS['control'],
            *EXTRAS['estimation'],
            *OFFLINE,
            *EXTRAS['plot'],
            *EXTRAS['view'],
            *EXTRAS['walking'],
        ],
        'test': [
            *(requirement for extra in EXTRAS.values() for requirement in extra),
            *S3,
            'argcomplete>=3.1',
            'casadi>=3.6',
            'control>=0.10',
            'example-robot-data',
            'hypothesis>=6.100',
            'idyntree>=15; python_version < "3.14" and platform_machine == "x86_64"',
            'mcap-ros2-support>=0.5',
            'pin>=2.7',
            'piqp>=0.6',
            'pytest>=8',
            'pytest-xdist>=3.6',
            'selenium>=4.20',
            'urdfdom_py>=1.2.1',
            'yourdfpy',
        ],
        'docs': [
            'furo>=2024.8',
            'myst-parser>=4',
            'sphinx>=8',
            'sphinx-autobuild>=2024.10',
            'sphinxcontrib-mermaid>=1',
        ],
        'dev': ['build', 'colcon-common-extensions', 'import-linter>=2.0', 'mypy', 'ruff'],
    },
    entry_points={
        'console_scripts': [
            f'geolin = {name}.cli:main',
            f'linearizer = {name}.ros.programs:linearizer',
        ],
    },
)
