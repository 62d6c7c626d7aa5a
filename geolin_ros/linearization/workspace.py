# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The engine for one robot and its contacts: arrays, and machine code that runs on them."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from geolin_ros.dynamics.arguments import failure, packed_of
from geolin_ros.errors import NotFiniteError
from geolin_ros.kernels._jit import machine_code
from geolin_ros.kernels.engine.contact_linearization import linearize_in_contact
from geolin_ros.kernels.engine.linearization import linearize
from geolin_ros.kernels.engine.own_results import linearize_own, pose_groups
from geolin_ros.kernels.packing import contact_layout, layout
from geolin_ros.kernels.packing.own_layout import pack_own
from geolin_ros.kernels.status import NOT_FINITE, OK, SINGULAR
from geolin_ros.linearization.contacts.constraints import Constraint, RowsLeft, rows_at
from geolin_ros.linearization.contacts.description import wrench_labels
from geolin_ros.linearization.contacts.redundancy import Redundancy
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench, pack
from geolin_ros.typing import Array, IntArray

Run = Callable[[], int]
RANK_TOLERANCE = 1e-9
"""Of the largest eigenvalue of J M^-1 J', above which one counts."""
IMMOVABLE = 1e-26
"""Share of the largest mobility of a joint up to which that eigenvalue is rounding: of contacts on
the axis of the only joint that moves them."""


class Workspace:
    """What kernels read of one robot and its contacts, and their scratch (one per thread).

    ``weights`` (rows,) are 1 for forces, the length of `Linearizer` for torques; ``last`` is the
    memory of the state that the scratch was written about last, or None; who runs it says so.
    """

    def __init__(self, model: TreeModel, constraints: Sequence[Constraint], length: float) -> None:
        packed = packed_of(model)
        self.model, self.constraints, self.length = model, tuple(constraints), length
        six = np.repeat((1.0, length), 3)
        self.weights = np.concatenate([np.zeros(0), *(six[: c.size] for c in constraints)])
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
        self._by_rank: dict[int, RowsLeft] = {}
        self._labels = wrench_labels(constraint.contact for constraint in constraints)

    def outputs(self) -> contact_layout.Outputs:
        """Return fresh memory for results."""
        return contact_layout.outputs_of(self.model.m, len(self.model.actuated), len(self.weights))

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
        for 0.4 us. `State.data` x, and efforts tau unless wrenches act, are read at each call.
        """
        arrays: tuple[Array, ...] = x, tau
        if wrenches or not self._own.is_all:
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

    @cached_property
    def _rows(self) -> RowsLeft:
        return RowsLeft(self.model, self._packed, self._contacts)

    def rows_at(self, state: State, left: RowsLeft | None = None) -> tuple[Array, Array]:
        """Return `rows_at` the pose where the engine ran last, of its contacts or those left."""
        if self.leaves_rows(state):
            return (left or self._rows).at(self.scratch, state)
        return rows_at(self.model, self.constraints, state)[:2]

    def leaves_rows(self, state: State) -> bool:
        """Whether `rows_at` reads what the engine leaves: of robot and state alone."""
        return bool(self.constraints) and self._rows.tells(state)

    def rank(self, state: State, tau: Array) -> int:
        """Return the rank about a state where it ran last, by a bound that spares eigenvalues."""
        if RANK_TOLERANCE * contact_layout.condition_of(self._contacts, self._scales) < 0.1:
            return len(self.weights)
        return self.judge(state, tau)[1].rank

    def judge(self, state: State, tau: Array) -> tuple[Array, Redundancy]:
        """Decide the rank about a state where it ran last, with all rows.

        The mobility Lam = J M^-1 J' = U diag(w) U' of the rows has the rank of those eigenvalues
        with w > `RANK_TOLERANCE` max(w). Forces along them alone are the solution of least norm,
        while the accelerations are the only ones [Featherstone 2008, section 3.4]. Rows of torques
        are multiplied by the length l before, which makes |f|^2 + |t/l|^2 least. Those of U
        (rows, rows) that count are its last columns.
        """
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
        w, U = np.linalg.eigh(mobilities * self._scales)
        if w.max(initial=0.0) <= IMMOVABLE * self._largest_mobility():
            w = np.zeros_like(w)
        shares = w / (w.max(initial=0.0) or 1.0)
        dependent = int(np.count_nonzero(shares <= RANK_TOLERANCE))
        first = max(dependent, len(w) - self.model.m)  # J has m columns
        asked, dropped = bias * self.weights, U[:, :first]
        size = float(np.linalg.norm(asked))
        return U, Redundancy(
            rows=self._labels,
            velocities=self.model.m,
            rank=len(w) - first,
            smallest_kept=float(shares[first]) if first < len(w) else 0.0,
            largest_dropped=max(float(shares[first - 1]), 0.0) if first else 0.0,
            dropped=self.weights[:, np.newaxis] * dropped,
            contradiction=float(np.linalg.norm(dropped.T @ asked)) / size if size else 0.0,
        )

    def _largest_mobility(self) -> float:
        """Return the largest S'S / D of a joint where the engine ran last."""
        bodies = self.scratch[layout.WORK_HEADER :][: (self.model.n + 1) * layout.WORK_RECORD]
        joints = bodies.reshape(-1, layout.WORK_RECORD)[1:]
        squares = np.sum(joints[:, layout.S : layout.S + 8] ** 2, axis=1)
        return float(np.max(squares * joints[:, layout.D_INVERSE], initial=0.0))

    def linearize_by_rank(
        self, state: State, tau: Array, wrenches: Sequence[Wrench]
    ) -> tuple[contact_layout.Outputs, Redundancy]:
        """Return fresh `outputs`, filled, where the engine has just found dependent rows.

        As many independent combinations of the rows are kept as their rank, and the forces are
        those of least norm. Where they lie in the range of J moves with the state: with an
        orthonormal basis N of null(J') and J w = lam they change by N N' d(J w) more.
        """
        U, redundancy = self.judge(state, tau)
        rank, weights, frames = redundancy.rank, self.weights, self._differences
        N, kept = U[:, : len(U) - rank], U[:, len(U) - rank :]
        combination = (kept.T * weights) @ frames
        if rank not in self._by_rank:
            contacts = pack_constraints(self._packed, self.constraints, combination)
            self._by_rank[rank] = RowsLeft(self.model, self._packed, contacts)
        left, found = self._by_rank[rank], self.outputs()
        contact_layout.combine(left.contacts, combination, frames.sum(axis=0) > 0.0)
        status = self.bind(state.data, tau, found.out, wrenches, left.contacts)()
        if status != OK:
            raise self.failure(status, state, tau)
        if 0 < rank < len(U):
            J, column = self.rows_at(state.at_rest(), left)[0], weights[:, np.newaxis]
            w = np.linalg.lstsq(column * J, found.forces / weights, rcond=1e-9)[0]
            as_if = state.copy()
            as_if.data[-self.model.m :] = w
            found.by_state[:] += column * (N @ (N.T @ (column * self.rows_at(as_if, left)[1])))
        return found, redundancy

    @cached_property
    def _differences(self) -> Array:
        """The rows of the constraints from those of all sites: of a loop, of both its ends."""
        return contact_layout.differences(*_widths(self.constraints))

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
