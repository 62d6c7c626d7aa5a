# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The robot as a numbered tree with names: what every algorithm of the package works on."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import warnings as python_warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, get_args

import numpy as np
from numpy.typing import ArrayLike

from geolin_ros import mjcf, urdf
from geolin_ros.description import (
    SINGLE_AXIS_KINDS,
    ContactKind,
    Description,
    Loop,
    apply_overlay,
    check_values,
    lock_joints,
    stands_on_world,
)
from geolin_ros.errors import (
    ConfigurationError,
    ModelWarning,
    ShapeError,
    check_choice,
    counted,
    did_you_mean,
    unknown_name,
)
from geolin_ros.kernels.packing import layout
from geolin_ros.kernels.packing.types import Tree
from geolin_ros.model.joint_kinds import CHAINS
from geolin_ros.model.numbering import DependentJoint, JointLimits, number_bodies
from geolin_ros.model.numbering import Frame as Frame
from geolin_ros.model.state import AXES, GroupJoint, Positions, State, finite_array
from geolin_ros.renamed import with_old_names
from geolin_ros.spatial import se3
from geolin_ros.typing import Array, IntArray

if TYPE_CHECKING:
    from typing import Unpack

Base = Literal['floating', 'fixed']
MimicReading = Literal['exact', 'independent']
STANDARD_GRAVITY = (0.0, 0.0, -9.81)


class ReadingOptions(TypedDict, total=False):
    """All options of `TreeModel.from_description`."""

    base: Base | None
    mimic: MimicReading
    joints: Sequence[str] | None
    locked_joints: Mapping[str, float] | None
    coulomb_friction: bool
    gravity: Sequence[float]
    actuated_joints: Sequence[str] | None
    overlay: Mapping[str, Any] | str | Path | None
    loops: Sequence[Loop | str] | None


class LockedJoint(NamedTuple):
    """A joint locked at a position [rad or m]."""

    name: str
    position: float


@with_old_names
@dataclass(frozen=True, eq=False)
class TreeModel:
    """A robot as a tree of bodies, ready for the algorithms.

    Attributes
    ----------
    name
        Robot name.
    base
        ``'floating'``: the pose and twist of the root link are part of the state; ``'fixed'``:
        they are not.
    joint_names
        Names of the n joint rates, in the order of r and tau, and of s unless it is longer: a
        joint with several axes has several, named joint/axis.
    position_names
        Names of the n_s positions, in the order of s. They are ``joint_names`` but for spherical,
        planar (``'se2'``) and inner floating joints.
    body_names
        Root link of each moving body; links behind fixed joints belong to the body that carries
        them, see `frames`.
    frames
        Every link of the description by name, with the body that carries it.
    limits
        Joint limits, infinite where the description gives none.
    gravity : (3,)
        Gravity in world axes [m/s^2].
    warnings
        What is suspicious about the description, one sentence each.
    tree
        The numbers, for kernels.
    coordinate_names
        Names of the coordinates of ``tree``; ``joint_names`` and the dependent joints.
    dependent_joints
        Joints that follow one of ``joint_names``, with master, multiplier and offset.
    locked_joints
        Joints locked at a position [rad or m]; they are part of the bodies.
    actuated_joints
        Joints whose efforts are the columns of B.
    effort_scale, effort_offset
        (n,) each, or empty: measured efforts act as scale * measured - offset [N m or N].
    loops
        Closed loops: in force beside the contacts of every `Linearizer` of this robot.
    """

    name: str
    base: Base
    joint_names: tuple[str, ...]
    position_names: tuple[str, ...]
    body_names: tuple[str, ...]
    frames: dict[str, Frame]
    limits: JointLimits
    gravity: Array
    warnings: tuple[str, ...]
    tree: Tree
    coordinate_names: tuple[str, ...]
    dependent_joints: tuple[DependentJoint, ...] = ()
    locked_joints: tuple[LockedJoint, ...] = ()
    actuated_joints: tuple[str, ...] = ()
    effort_scale: tuple[float, ...] = ()
    effort_offset: tuple[float, ...] = ()
    loops: tuple[Loop, ...] = ()

    @classmethod
    def from_description(
        cls, description: Description, **options: Unpack[ReadingOptions]
    ) -> TreeModel:
        """Make a tree of a description: merge fixed joints, check inertias.

        Raises `ConfigurationError` if an option is none of its choices, a list of names is one
        name, or a joint is actuated twice; `ModelError` if the links and joints are no tree, a
        number is none that a body or joint can have (mass, axis, placement, coefficient), a joint
        has no inertia to move, or a mimic joint follows none; `UnknownNameError` if a name is not
        part of the description; `UnsupportedJointError` if a joint is of a kind that cannot be
        read here. The message names the element.

        Parameters
        ----------
        description
            Links and joints, from a URDF or written in code.
        gravity
            Gravity in world axes [m/s^2].
        actuated_joints
            The columns of B, in order; by default all joint coordinates.
        overlay
            Rotors, gears, springs, friction, payloads: a mapping or the path of a YAML file, see
            `description.overlay`.
        loops
            Closed loops, or texts as of `Loop.parse`: ``'left_end=right_end point'``; by default
            those of the description.
        base
            ``'floating'`` or ``'fixed'`` root link; by default floating, but fixed with a
            warning where the root link is called world.
        mimic
            ``'exact'`` (default): a mimic joint follows its master and is no coordinate;
            ``'independent'``: it is a joint of its own.
        joints
            Names of joints, in the order of their coordinates; other joints are locked. By
            default all, depth first, children in the order of the description.
        locked_joints
            Positions of joints to hold still [rad or m]; those not in ``joints`` and not here
            are locked at zero, or at the limit nearest to it.
        coulomb_friction
            Whether the Coulomb friction of the description acts, smoothed as f tanh(r / v0);
            by default it does not.
        """
        _check_options(options)
        base, joints = options.get('base'), options.get('joints')
        mimic, overlay = options.get('mimic', 'exact'), options.get('overlay')
        friction = options.get('coulomb_friction', False)
        if overlay is not None:
            description = apply_overlay(description, overlay)
        check_values(description)
        noted = []
        if base is None:
            found = stands_on_world(description)
            base = 'floating' if found is None else 'fixed'
            if found is not None:
                noted = [f'{description.source}: {found.sentence}']
                python_warnings.warn(noted[0], ModelWarning, stacklevel=2)
        check_choice('base', base, get_args(Base))
        check_choice('mimic', mimic, get_args(MimicReading))
        if mimic == 'independent':
            alone = (dataclasses.replace(joint, mimic=None) for joint in description.joints)
            description = dataclasses.replace(description, joints=tuple(alone))
        locked = dict(options.get('locked_joints') or {})
        if joints is not None:
            locked |= _unlisted(description, joints, locked)
        description, locked = lock_joints(description, locked)
        numbered = number_bodies(description, base, joints, friction)
        numbered['warnings'] = (*noted, *numbered['warnings'])
        loops, actuated = options.get('loops'), options.get('actuated_joints')
        loops = description.loops if loops is None else loops
        model = cls(
            name=description.name,
            base=base,
            gravity=three_numbers('gravity', options.get('gravity', STANDARD_GRAVITY)),
            locked_joints=tuple(LockedJoint(*item) for item in locked.items()),
            actuated_joints=tuple(numbered['joint_names'] if actuated is None else actuated),
            loops=tuple(Loop.parse(loop) if isinstance(loop, str) else loop for loop in loops),
            **numbered,
        )
        model._check_names()
        return model

    def _check_names(self) -> None:
        """Refuse joints and links that the robot does not have, and joints actuated twice."""
        twice = [name for name, count in Counter(self.actuated_joints).items() if count > 1]
        for name in self.actuated_joints:
            self.joint_index(name)
            if name in twice:
                raise ConfigurationError(
                    f'actuated_joints names joint {name!r} twice, expected each once: it has one '
                    'column of B; remove one'
                )
        for loop in self.loops:
            check_choice(f'kind of loop {loop.name!r}', loop.kind, get_args(ContactKind))
            self.frame(loop.frame_a)
            self.frame(loop.frame_b)

    @classmethod
    def from_urdf(
        cls, source: str | bytes | Path | Any, **options: Unpack[ReadingOptions]
    ) -> TreeModel:
        """Read a URDF text, path or urdfpy-shaped object; options as in `from_description`.

        Errors as there; `UrdfError` if the text is malformed, unsafe or out of bounds.

        Examples
        --------
        >>> from geolin_ros import TreeModel, robots
        >>> TreeModel.from_urdf(robots.path('quadruped')).n
        12
        """
        return cls.from_description(urdf.read(source), **options)

    @classmethod
    def from_mjcf(
        cls, source: str | Path, *, root: str | None = None, **options: Unpack[ReadingOptions]
    ) -> TreeModel:
        """Read an MJCF path or text by MuJoCo, as `geolin_ros.mjcf.read` says.

        Where several trees of bodies move, ``root`` is the first body of the robot's.
        Options as in `from_description`; by default gravity is the file's, and the base floats if
        its body has a free joint. Raises `ConfigurationError` if MuJoCo is not installed, or a
        floating base is asked for that has no free joint; `ModelError` if MuJoCo cannot read the
        source, or it holds what cannot be meant here.
        """
        found = mjcf.read(source, root)
        if options.get('base') == 'floating' and found.base == 'fixed':
            raise ConfigurationError(
                f"base 'floating' is asked for, but {found.description.source} has no free joint; "
                'add <freejoint/> to its first body, or leave base out'
            )
        chosen: ReadingOptions = {'gravity': found.gravity, **options}
        chosen['base'] = options.get('base') or found.base
        return cls.from_description(found.description, **chosen)

    @classmethod
    def from_file(
        cls, path: str | Path, *, root: str | None = None, **options: Unpack[ReadingOptions]
    ) -> TreeModel:
        """Read a file of a robot: MJCF if it holds ``<mujoco>``, else URDF or xacro.

        ``root`` and errors as of `from_mjcf` and `from_urdf`; `ConfigurationError` too if a root
        is given of what is no MJCF.
        """
        if mjcf.is_mjcf(path):
            return cls.from_mjcf(path, root=root, **options)
        mjcf.check_no_root(path, root)
        return cls.from_urdf(path, **options)

    @property
    def n(self) -> int:
        """Number of joint coordinates: dependent and locked joints do not count."""
        return len(self.joint_names)

    @property
    def n_s(self) -> int:
        """Number of joint positions: n, and more with spherical, planar, inner floating joints."""
        return len(self.position_names)

    @property
    def m(self) -> int:
        """Number of velocities: n, and 6 more with a floating base."""
        return self.n + (6 if self.base == 'floating' else 0)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Every link of the description, the ones behind fixed joints too."""
        return tuple(self.frames)

    @property
    def base_link(self) -> str:
        """The link whose pose and twist are the state's H and v."""
        return self.body_names[0]

    @cached_property
    def total_mass(self) -> float:
        """Mass of all links [kg]; with a fixed base, of the moving and the fixed ones."""
        return float(self.tree.inertia[:, 0, 0].sum())

    @cached_property
    def packed(self) -> layout.Packed | None:
        """Arrays of the engine, read-only; None with inertias that no rigid body has."""
        return layout.pack(self.tree, self.gravity)

    @cached_property
    def hash(self) -> str:
        """Sixteen hex digits that change with every number and name of the model."""
        digest = hashlib.sha256()
        coupled = tuple(f'{row.name} {row.master}' for row in self.dependent_joints)
        for names in (
            self.joint_names,
            self.position_names,
            self.actuated_joints,
            coupled,
            self.body_names,
            self.link_names,
            (self.base,),
        ):
            digest.update('\n'.join(names).encode() + b'\0')
        for array in (*self.tree, self.gravity, *(f.placement for f in self.frames.values())):
            digest.update(array.tobytes() + b'\0')
        if self.effort_scale:
            digest.update(np.array((self.effort_scale, self.effort_offset)).tobytes())
        for loop in self.loops:
            pose = np.eye(4) if loop.reference is None else np.asarray(loop.reference, np.float64)
            digest.update(f'{loop.name} {loop.kind} {loop.active}'.encode() + pose.tobytes())
            digest.update(np.array((loop.kp, loop.kd)).tobytes())
        return digest.hexdigest()[:16]

    def frame(self, name: str) -> Frame:
        """Return where a link of the description sits.

        Raises `UnknownNameError` if there is no such link; it lists the nearest names.
        """
        try:
            return self.frames[name]
        except KeyError:
            raise unknown_name('link', name, self.frames, f'robot {self.name!r}') from None

    def joint_index(self, name: str) -> int:
        """Return the position of a joint coordinate in s, r and tau.

        Raises `UnknownNameError` if there is no such joint; it lists the nearest names.
        """
        try:
            return self.joint_names.index(name)
        except ValueError:
            raise unknown_name('joint', name, self.joint_names, f'robot {self.name!r}') from None

    def with_gravity(self, gravity: Sequence[float]) -> TreeModel:
        """Return the same robot under another gravity (3,) in world axes [m/s^2].

        Raises `ShapeError` or `NotFiniteError` if it is not three finite numbers.
        """
        return dataclasses.replace(self, gravity=three_numbers('gravity', gravity))

    @cached_property
    def own_coordinate(self) -> IntArray:
        """The tree's coordinate (n,) of each joint coordinate; not arange with mimic joints."""
        return np.array(
            [self.coordinate_names.index(name) for name in self.joint_names], dtype=np.int64
        )

    @cached_property
    def actuated(self) -> IntArray:
        """Which joint coordinates (n_u,) are actuated, in the order of the columns of B."""
        return np.array([self.joint_index(name) for name in self.actuated_joints], dtype=np.int64)

    @cached_property
    def body_of_joint(self) -> dict[str, int]:
        """The body that each moving joint moves, by its name; j/first, j/second of a chain j."""
        found = {}
        for i in range(1, self.tree.parent.size):
            name = self.coordinate_names[self.tree.v_start[i]]
            found[name if self.tree.v_size[i] == 1 else name.rsplit('/', 1)[0]] = i
        return found

    @cached_property
    def positions(self) -> Positions:
        """Which entries of s and r belong together."""
        tree, groups = self.tree, []
        plain: dict[int, int] = {}
        for i in range(1, tree.parent.size):
            kind, q, v = int(tree.kind[i]), int(tree.q_start[i]), int(tree.v_start[i])
            own_q = tree.position_master[q : q + tree.q_size[i]].tolist()
            own_v = tree.master[v : v + tree.v_size[i]].tolist()
            if kind in AXES:
                parts = slice(own_q[0], own_q[-1] + 1), slice(own_v[0], own_v[-1] + 1)
                groups.append(GroupJoint(kind, *parts, AXES[kind]))
            else:
                plain |= zip(own_q, own_v, strict=True)  # mimic joints repeat their master's
        pairs = np.array(sorted(plain.items()), dtype=np.int64).reshape(-1, 2)
        return Positions(self.n_s, self.n, pairs[:, 0], pairs[:, 1], tuple(groups))

    def state(
        self,
        H: ArrayLike | None = None,
        s: ArrayLike | None = None,
        v: ArrayLike | None = None,
        r: ArrayLike | None = None,
        *,
        positions: Mapping[str, float] | None = None,
    ) -> State:
        """Return a `State` of this robot; what is left out of it is that of `neutral_state`.

        ``positions`` of joints by name [rad or m] take the place of those in s. Errors as of
        `State`; `ShapeError` too if s or r has not the size of the robot, `UnknownNameError` if a
        name is none of `position_names`.

        Examples
        --------
        >>> from geolin_ros import TreeModel, robots
        >>> model = TreeModel.from_urdf(robots.path('quadruped'))
        >>> float(model.state(positions={'FL_thigh_joint': 0.8}).s[1])
        0.8
        """
        H, v = np.eye(4) if H is None else H, np.zeros(6) if v is None else v
        s, r = self.positions.neutral() if s is None else s, np.zeros(self.n) if r is None else r
        state = State(H, s, v, r, self.positions if self.positions.groups else None)
        if (state.s.size, state.r.size) != (self.n_s, self.n):
            raise ShapeError(
                f's has {state.s.size} and r {state.r.size} entries, expected {self.n_s} and '
                f'{self.n} for robot {self.name!r}'
            )
        for name, position in (positions or {}).items():
            if name not in self.position_names:
                raise unknown_name('joint', name, self.position_names, f'robot {self.name!r}')
            state.s[self.position_names.index(name)] = position
        return state

    def neutral_state(self) -> State:
        """Return the state at the origin, joints at zero, at rest."""
        return self._neutral.copy()

    @cached_property
    def _neutral(self) -> State:
        return self.state()

    def random_state(self, rng: np.random.Generator, *, speed: float = 1.0) -> State:
        """Return a state with a uniform base rotation, joints within limits (at most pi).

        Positions are within 1 m, twist and rates within ``speed`` of each unit.
        """
        lower = np.maximum(self.limits.lower, -np.pi)
        upper = np.minimum(self.limits.upper, np.pi)
        H = np.eye(4)
        H[:3, :3] = se3.rotation_from_quaternion(rng.normal(size=4))
        H[:3, 3] = rng.uniform(-1.0, 1.0, 3)
        s = self.positions.random(rng, np.minimum(lower, upper), np.maximum(lower, upper))
        v, r = rng.uniform(-speed, speed, 6), rng.uniform(-speed, speed, self.n)
        if self.base == 'fixed':
            return self.state(np.eye(4), s, np.zeros(6), r)
        return self.state(H, s, v, r)

    def summary(self) -> str:
        """Return name, size, mass and a line for every joint, as text."""
        lines = [
            f'{self.name}: {self.base} base {self.base_link!r}, '
            f'{counted(self.n, "joint coordinate")}, '
            f'{counted(len(self.frames), "link")} in {counted(len(self.body_names), "body")}, '
            f'{self.total_mass:.3f} kg, model {self.hash}'
        ]
        limits = self.limits
        for c, name in enumerate(self.joint_names):
            lines.append(
                f'  {c:3d} {name}: {limits.lower[c]:.3g} ... {limits.upper[c]:.3g}, '
                f'speed {limits.velocity[c]:.3g}, effort {limits.effort[c]:.3g}, '
                f'damping {self.tree.damping[self.own_coordinate[c]]:.3g}'
            )
        lines += [f'  loop {loop.name} {loop.kind}' for loop in self.loops]
        return '\n'.join((*lines, *(f'  warning: {warning}' for warning in self.warnings)))

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the fields; arrays become read-only again: kernels are compiled for such ones."""
        self.__dict__.update(state)
        limits = vars(self.limits).values()
        placements = (frame.placement for frame in self.frames.values())
        for array in (*self.tree, *limits, *placements, self.gravity):
            array.setflags(write=False)

    def __repr__(self) -> str:
        """Return name, base and size."""
        return f'TreeModel({self.name!r}, base={self.base!r}, n={self.n})'


# For help(): nobody writes these fields, which the class methods fill in.
vars(TreeModel.__init__)['__signature__'] = inspect.signature(lambda self, **fields: None)


def _check_options(given: Mapping[str, object]) -> None:
    """Refuse what is no option, or of another type than it must be."""
    known = ReadingOptions.__annotations__
    for name in given.keys() - known.keys():
        meant = did_you_mean(name, known)
        raise TypeError(f'a model has no option {name!r}; {meant}options are {", ".join(known)}')
    for name in ('actuated_joints', 'joints'):
        listed = given.get(name)
        if isinstance(listed, str):  # its letters would be taken for names
            raise ConfigurationError(
                f'{name} is {listed!r}, expected a list of names; write [{listed!r}]'
            )
    friction = given.get('coulomb_friction', False)
    if not isinstance(friction, bool | np.bool_):
        raise ConfigurationError(f'coulomb_friction is {friction!r}, expected True or False')


def _unlisted(
    description: Description, joints: Sequence[str], locked: Mapping[str, float]
) -> dict[str, float]:
    """Return positions for the joints that are neither listed nor locked nor follow another."""
    moving = [joint.name for joint in description.joints if joint.kind != 'fixed']
    chains = {joint.name for joint in description.joints if joint.kind in CHAINS}
    for name in joints:
        if name not in moving and name.rpartition('/')[0] not in chains:
            raise unknown_name('joint', name, moving, f'robot {description.name!r}')
    return {
        joint.name: float(np.clip(0.0, joint.limits.lower, joint.limits.upper))
        for joint in description.joints
        if joint.kind in SINGLE_AXIS_KINDS
        and joint.name not in {*joints, *locked}
        and joint.mimic is None
    }


def three_numbers(what: str, values: ArrayLike) -> Array:
    """Return three finite numbers, read-only; ``what`` opens the message where they are none."""
    found = finite_array(what, values, (3,))
    found.setflags(write=False)
    return found
