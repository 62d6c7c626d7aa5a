# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The engine for one robot and its contacts: arrays, and machine code that runs on them."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from geolin_ros.dynamics.arguments import failure, packed_of
from geolin_ros.errors import NotFiniteError
from geolin_ros.kernels.engine.contact_linearization import linearize_in_contact
from geolin_ros.kernels.engine.linearization import linearize
from geolin_ros.kernels.engine.own_results import linearize_own, pose_groups
from geolin_ros.kernels.entry import machine_code
from geolin_ros.kernels.packing import contact_layout, layout
from geolin_ros.kernels.packing.own_layout import pack_own
from geolin_ros.kernels.status import NOT_FINITE, SINGULAR
from geolin_ros.linearization.contacts.constraints import Constraint
from geolin_ros.linearization.contacts.description import wrench_labels
from geolin_ros.linearization.contacts.geometry import RowsLeft, rows_at
from geolin_ros.linearization.contacts.rank import RANK_TOLERANCE, Decision, decide, weights_of
from geolin_ros.linearization.contacts.redundancy import Redundancy
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench, pack
from geolin_ros.typing import Array, IntArray

Run = Callable[[], int]


class Workspace:
    """What kernels read of one robot and its contacts, and their scratch (one per thread).

    Raises `ModelError` if a link has an inertia that no rigid body has, or bodies are not numbered
    depth first.

    Parameters
    ----------
    length
        See `Linearizer`.

    Attributes
    ----------
    weights : (rows,)
        Of forces and torques, see `rank`.
    scratch
        Of the engine.
    last
        Memory of the state it was written about last, or None; who runs it says so.
    """

    def __init__(self, model: TreeModel, constraints: Sequence[Constraint], length: float) -> None:
        packed = packed_of(model)
        self.model, self.constraints, self.length = model, tuple(constraints), length
        self.weights = weights_of(constraints, length)
        self._scales = np.outer(self.weights, self.weights)
        self.last: Array | None = None
        self._packed = packed
        self._own = pack_own(packed, model.base == 'floating', model.actuated)
        self.scratch = layout.make_workspace(packed)
        self._contacts = pack_constraints(packed, constraints)
        self._poses, self._floats = packed.floats.copy(), packed.floats
        if packed.groups:
            self._floats = self._poses.view()
            self._floats.setflags(write=False)

    def outputs(self) -> contact_layout.Outputs:
        """Return fresh memory for results."""
        rows = sum(constraint.size for constraint in self.constraints)
        return contact_layout.outputs_of(self.model.m, len(self.model.actuated), rows)

    @cached_property
    def spare(self) -> contact_layout.Outputs:
        """Memory for results that are copied at once."""
        return self.outputs()

    def bind(
        self,
        x: Array,
        tau: Array,
        out: Array,
        wrenches: Sequence[Wrench] = (),
        contacts: contact_layout.Contacts | None = None,
    ) -> Run:
        """Return the engine about memory of a state and of efforts, called for a status.

        It is machine code: called itself, a kernel would look at the types of its arguments first,
        for 0.4 us.

        Parameters
        ----------
        x : (22 + n_s + n,)
            `State.data`, read at each call.
        tau : (n,)
            Joint efforts [N m or N], read at each call unless wrenches act.
        out
            Of `outputs`.
        contacts
            Other ones than those of the constraints, see `combined`.
        """
        arrays: tuple[Array, ...] = x, tau
        if wrenches or not self._own.is_all:
            inputs = self._inputs
            if wrenches:
                inputs = layout.make_inputs(self._packed, pack(self.model, wrenches))
            arrays = x, tau, inputs
            if self._own.is_all:
                inputs[: self.model.n] = tau
                arrays = x, inputs
        run = partial(self._code, *self._robot(contacts), *arrays, self.scratch, out)
        if not self._packed.groups:
            return run
        place = partial(pose_groups, self._own.ints, self._own.floats, x, self._poses)

        def run_placed() -> int:
            place()
            return run()

        return run_placed

    @cached_property
    def _inputs(self) -> Array:
        """Efforts of all joints, which the engine fills in, without wrenches."""
        return layout.make_inputs(self._packed, pack(self.model, ()))

    def _robot(self, contacts: contact_layout.Contacts | None) -> tuple[Any, ...]:
        robot, contacts = (self._packed.ints, self._floats), contacts or self._contacts
        if not self._own.is_all:
            return *robot, *contacts, self._own.ints, self._own.floats
        return (*robot, *contacts) if self.constraints else robot

    @cached_property
    def _code(self) -> Callable[..., int]:
        """The machine code for such arrays."""
        kernel: Any = linearize_in_contact if self.constraints else linearize
        number = np.zeros(0)
        # state, inputs, scratch, results
        arrays: tuple[Array, ...] = number, number, self.scratch, self.spare.out
        if not self._own.is_all:
            kernel, arrays = linearize_own, (number, *arrays)
        return machine_code(kernel, (*self._robot(None), *arrays))

    def combined(self, combination: Array) -> RowsLeft:
        """Return contacts that keep combinations (kept, rows of all sites) of their rows."""
        contacts = pack_constraints(self._packed, self.constraints, combination)
        return RowsLeft(self.model, self._packed, contacts)

    @cached_property
    def differences(self) -> Array:
        """The rows of the constraints from those of all sites: of a loop, of both its ends."""
        return contact_layout.differences(*_widths(self.constraints))

    @cached_property
    def _left(self) -> RowsLeft:
        return RowsLeft(self.model, self._packed, self._contacts)

    def rows_at(self, state: State, left: RowsLeft | None = None) -> tuple[Array, Array]:
        """Return `rows_at` the pose where the engine ran last, of its contacts or `combined`."""
        found = (left or self._left).at(self.scratch, state)
        return found or rows_at(self.model, self.constraints, state)

    def rank(self, state: State, tau: Array) -> int:
        """Return the rank about a state where it ran last, by a bound that spares eigenvalues."""
        rows = len(self.weights)
        if not rows:
            return 0
        condition = contact_layout.condition_of(self._contacts, self._scales)
        if RANK_TOLERANCE * condition < 0.1:
            return rows
        return self.judge(state, tau)[1].rank

    def judge(self, state: State, tau: Array) -> tuple[Decision, Redundancy]:
        """Return the rank decision about a state where it ran last, with all rows."""
        mobilities, bias = np.zeros((0, 0)), np.zeros(0)
        if self.constraints:
            mobilities, bias = contact_layout.mobilities_of(self._contacts)
        if not np.isfinite(mobilities).all():
            if not (np.isfinite(state.data).all() and np.isfinite(tau).all()):
                raise self.failure(NOT_FINITE, state, tau)
            raise NotFiniteError(
                f'contacts of robot {self.model.name!r} overflow, expected contact frames '
                'within its reach; correct their placements'
            )
        decision, asked = decide(mobilities * self._scales), bias * self.weights
        denied, size = decision.dropped.T @ asked, float(np.linalg.norm(asked))
        return decision, Redundancy(
            rows=wrench_labels(constraint.contact for constraint in self.constraints),
            velocities=self.model.m,
            rank=decision.kept.shape[1],
            smallest_kept=decision.smallest_kept,
            largest_dropped=decision.largest_dropped,
            dropped=self.weights[:, np.newaxis] * decision.dropped,
            contradiction=float(np.linalg.norm(denied)) / size if size > 0.0 else 0.0,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Prepare the engine anew: its memory is of one process."""
        return Workspace, (self.model, self.constraints, self.length)

    def failure(self, status: int, state: State, tau: Array) -> Exception:
        """Return the error for a status of the engine."""
        joint = status - SINGULAR - 6
        if joint >= 0:
            status = SINGULAR + 6 + int(self._packed.mimics.masters[joint])
        return failure(self.model, status, state, {'tau': tau})


def _widths(constraints: Sequence[Constraint]) -> tuple[IntArray, IntArray]:
    """Return the rows of each site, and what it is of a loop, see `contact_layout.LOOP`."""
    frames = [len(constraint.frames) for constraint in constraints]
    widths = np.repeat([constraint.size for constraint in constraints], frames)
    loops = [k for count in frames for k in ((0,) if count == 1 else (1, 2))]
    return widths.astype(np.int64), np.array(loops, np.int64)


def pack_constraints(
    packed: layout.Packed, constraints: Sequence[Constraint], combination: Array | None = None
) -> contact_layout.Contacts:
    """Return constraints as kernels read them: a site per frame of the robot."""
    sites = [(frame, c) for c in constraints for frame in c.frames]
    anchors = [np.eye(4) if c.anchor is None else c.anchor for _, c in sites]
    widths, loops = _widths(constraints)
    return contact_layout.pack_contacts(
        packed,
        packed.bodies[np.array([frame.body for frame, _ in sites], dtype=np.int64)],
        widths,
        np.array([frame.placement for frame, _ in sites]).reshape(-1, 4, 4),
        np.array([(c.contact.kp, c.contact.kd) for _, c in sites]).reshape(-1, 2),
        np.array(anchors).reshape(-1, 4, 4),
        loops,
        combination,
    )
