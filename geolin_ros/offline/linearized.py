# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From a slice of a bag, its operating points as arrays, to a Dataset: what a worker computes."""

from itertools import accumulate
from typing import Any

import numpy as np
import xarray as xr

from geolin_ros.dynamics.functions import mass_matrix
from geolin_ros.errors import NotFiniteError, SingularInertiaError
from geolin_ros.linearization.contacts.description import SIZES, Closure
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline.points import Points
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import OperatingPoint, linearize

STAMP = 'datetime64[ns]'


def contact_names(model: TreeModel, settings: StreamSettings) -> tuple[str, ...]:
    """Return the contacts that a run may know; those of a topic may be any link."""
    if settings.contacts.source == 'topic':
        return model.link_names
    return tuple(contact.name for contact in settings.contacts.contacts)


def linearized(model: TreeModel, settings: StreamSettings, points: Points) -> xr.Dataset:
    """Return the linearizations about points, bytes as those of the node, with what was measured.

    They are variables of `geolin_ros.open_dataset`, without names. NaN, and not ``valid``, where
    the robot has no linearization; ``contact_load`` is the size of the force of each contact [N],
    NaN where it is not in force, or in discrete form.
    """
    count, k, n_s, n = len(points.stamp), 2 * model.m, model.n_s, model.n
    names = {name: c for c, name in enumerate(contact_names(model, settings))}
    A, B = np.full((count, k, k), np.nan), np.full((count, k, len(model.actuated)), np.nan)
    nu_dot, drift = np.full((count, model.m), np.nan), np.full((count, k), np.nan)
    loads, active = np.full((count, len(names)), np.nan), np.zeros((count, len(names)), bool)
    linearizer, state = Linearizer(model), model.neutral_state()
    in_force: tuple[Closure, ...] = ()
    states = points.state
    rows = zip(points.contacts, points.wrenches, points.efforts, strict=True)
    for t, (contacts, wrenches, efforts) in enumerate(rows):
        state.data[:] = states[t]
        point = OperatingPoint(0, 0, state, efforts, efforts, wrenches, contacts)
        if contacts is not in_force:
            linearizer.contacts = in_force = contacts
        active[t, [names[c.name] for c in contacts if c.active and c.name in names]] = True
        try:
            answer = linearize(point, linearizer, settings)
        except (SingularInertiaError, NotFiniteError):
            continue
        A[t], B[t], nu_dot[t], drift[t] = answer.A, answer.B, answer.nu_dot, answer.drift
        if answer.contact_wrenches is not None:
            in_order = [contact for contact in contacts if contact.active]
            begins = accumulate((SIZES[contact.kind] for contact in in_order), initial=0)
            for contact, row in zip(in_order, begins, strict=False):
                if contact.name in names:
                    force = answer.contact_wrenches[row : row + 3]
                    loads[t, names[contact.name]] = np.linalg.norm(force)
    variables: dict[str, tuple[Any, ...]] = {
        'time': ('time', points.stamp.view(STAMP)),
        'odometry_time': ('time', points.odometry_stamp.view(STAMP)),
        'H': (
            ('time', 'pose_row', 'pose_col'),
            states[:, :16].reshape(-1, 4, 4),
            {'units': '1, m'},
        ),
        's': (('time', 'position'), states[:, 16 : 16 + n_s]),
        'v': (('time', 'twist'), states[:, 16 + n_s : 22 + n_s]),
        'r': (('time', 'joint'), states[:, 22 + n_s : 22 + n_s + n]),
        'tau': (('time', 'joint'), points.tau),
        'A': (('time', 'row', 'col'), A),
        'B': (('time', 'row', 'input'), B),
        'drift': (('time', 'row'), drift),
        'nu_dot': (('time', 'acceleration'), nu_dot),
        'residual': (('time', 'acceleration'), points.measured - nu_dot),
        'valid': ('time', ~np.isnan(nu_dot[:, 0])),
    }
    if names:
        variables['contact_active'] = (('time', 'contact'), active)
        variables['contact_load'] = (('time', 'contact'), loads, {'units': 'N'})
    return xr.Dataset(variables)


def spectra(model: TreeModel, settings: StreamSettings, points: Points) -> xr.Dataset:
    """Return eigenvalues of A, by falling real part, and conditioning of M about points.

    Arguments as of `linearized`.
    """
    A = linearized(model, settings, points).A.values
    eigenvalues = np.full(A.shape[:2], np.nan, dtype=np.complex128)
    good = ~np.isnan(A).any(axis=(1, 2))
    if good.any():
        found = np.linalg.eigvals(A[good])
        order = np.lexsort((-found.imag, -found.real), axis=-1)
        eigenvalues[good] = np.take_along_axis(found, order, axis=-1)
    condition = np.linalg.cond(mass_matrix(model, points.state))
    units = {'units': '1' if settings.form == 'discrete' else '1/s'}
    return xr.Dataset(
        {
            'spectrum_time': ('spectrum', points.stamp.view(STAMP)),
            'spectrum_row': ('spectrum', points.row, {'units': 'sample of time'}),
            'eigenvalues': (('spectrum', 'mode'), eigenvalues, units),
            'mass_matrix_condition': ('spectrum', condition, {'units': '1'}),
        }
    )
