# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Subcommands of ``geolin``: one file each, as in `geolin_ros.cli`."""

COMMANDS = {
    'analyze-modes': 'find modes and controllability of a standing or flying robot',
    'compare': 'compare two datasets, or two robots',
    'export': 'write a robot as a C library, which needs no Python: A, B, dynamics, contacts',
    'identify': 'identify masses, rotors, friction and springs of a robot from bags',
    'import': 'convert CSV, npz or HDF5 files to a bag, by a mapping file of their columns',
    'inspect': 'check a bag: rates, gaps, clocks, frames, and inputs that would be dropped',
    'lint-urdf': 'find errors and unusual values in a robot description, and how to fix them',
    'recheck': 'repeat a check of A and B that failed in a node',
    'record': 'record inputs and outputs of nodes into a bag, without ros2 bag',
    'report': 'write a report of a dataset: eigenvalues, matrices, residuals, modes',
    'view': 'show a robot in the browser: of a running node, of a bag, or standing still',
}
