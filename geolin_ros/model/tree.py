# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The robot as a numbered tree with names: what every algorithm of the package works on."""

import dataclasses
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from geolin_ros import urdf
from geolin_ros.description import Description
from geolin_ros.errors import NotFiniteError, ShapeError, unknown_name
from geolin_ros.kernels.types import Tree
from geolin_ros.model.numbering import number_bodies
from geolin_ros.model.state import State
from geolin_ros.typing import Array

Base = Literal['floating', 'fixed']
MimicReading = Literal['exact', 'independent']
STANDARD_GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class JointLimits:
    """Limits per joint coordinate, each (n,): [rad or m, rad/s or m/s, N m or N]."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


@dataclass(frozen=True)
class Frame:
    """A link of the description: ``placement`` (4, 4) on the moving body that carries it."""

    body: int
    placement: Array


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
        Names of the n joint coordinates, in the order of s, r and tau.
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
    """

    name: str
    base: Base
    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    frames: dict[str, Frame]
    limits: JointLimits
    gravity: Array
    warnings: tuple[str, ...]
    tree: Tree

    @classmethod
    def from_description(
        cls,
        description: Description,
        *,
        base: Base = 'floating',
        gravity: Sequence[float] = STANDARD_GRAVITY,
        mimic: MimicReading = 'exact',
        joints: Sequence[str] | None = None,
    ) -> 'TreeModel':
        """Make a tree of a description: merge fixed joints, check inertias.

        Parameters
        ----------
        description
            Links and joints, from a URDF or written in code.
        base
            ``'floating'`` or ``'fixed'`` root link.
        gravity
            Gravity in world axes [m/s^2].
        mimic
            ``'exact'``: a mimic joint follows its master; ``'independent'``: it is a joint of
            its own.
        joints
            Order of the joint coordinates; by default depth first, children in the order of the
            description.

        Raises
        ------
        ModelError
            If the links and joints are no tree, or a joint moves no inertia; the message names
            the element.
        UnsupportedJointError
            If a joint is of a kind that cannot be read here.
        """
        numbered = number_bodies(description, base, mimic, joints)
        return cls(
            name=description.name,
            base=base,
            joint_names=numbered.joint_names,
            body_names=numbered.body_names,
            frames={name: Frame(*place) for name, place in numbered.frames.items()},
            limits=JointLimits(*numbered.limits),
            gravity=_gravity(gravity),
            warnings=numbered.warnings,
            tree=numbered.tree,
        )

    @classmethod
    def from_urdf(
        cls,
        source: str | bytes | Path | Any,
        *,
        base: Base = 'floating',
        gravity: Sequence[float] = STANDARD_GRAVITY,
        mimic: MimicReading = 'exact',
        joints: Sequence[str] | None = None,
    ) -> 'TreeModel':
        """Read a URDF text, path or urdfpy-shaped object; options as in `from_description`.

        Raises
        ------
        UrdfError
            If the text is malformed, unsafe or out of bounds.
        ModelError
            If the links and joints are no tree, or a joint moves no inertia.

        Examples
        --------
        >>> from geolin_ros import TreeModel, robots
        >>> TreeModel.from_urdf(robots.path('quadruped')).n
        12
        """
        return cls.from_description(
            urdf.read(source), base=base, gravity=gravity, mimic=mimic, joints=joints
        )

    @property
    def n(self) -> int:
        """Number of joint coordinates."""
        return len(self.joint_names)

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
    def hash(self) -> str:
        """Sixteen hex digits that change with every number and name of the model."""
        digest = hashlib.sha256()
        for names in (self.joint_names, self.body_names, self.link_names, (self.base,)):
            digest.update('\n'.join(names).encode() + b'\0')
        for array in (*self.tree, self.gravity, *(f.placement for f in self.frames.values())):
            digest.update(array.tobytes() + b'\0')
        return digest.hexdigest()[:16]

    def frame(self, name: str) -> Frame:
        """Return where a link of the description sits.

        Raises
        ------
        UnknownNameError
            If there is no such link; the message lists the nearest names.
        """
        try:
            return self.frames[name]
        except KeyError:
            raise unknown_name('link', name, self.frames, f'robot {self.name!r}') from None

    def joint_index(self, name: str) -> int:
        """Return the position of a joint coordinate in s, r and tau.

        Raises
        ------
        UnknownNameError
            If there is no such joint; the message lists the nearest names.
        """
        try:
            return self.joint_names.index(name)
        except ValueError:
            raise unknown_name('joint', name, self.joint_names, f'robot {self.name!r}') from None

    def with_gravity(self, gravity: Sequence[float]) -> 'TreeModel':
        """Return the same robot under another gravity (3,) in world axes [m/s^2].

        Raises
        ------
        ShapeError, NotFiniteError
            If it is not three finite numbers.
        """
        return dataclasses.replace(self, gravity=_gravity(gravity))

    def neutral_state(self) -> State:
        """Return the state at the origin, joints at zero, at rest."""
        return State(np.eye(4), np.zeros(self.n), np.zeros(6), np.zeros(self.n))

    def random_state(self, rng: np.random.Generator, speed: float = 1.0) -> State:
        """Return a state with a uniform base rotation, joints within limits (at most pi).

        Positions are within 1 m, twist and rates within ``speed`` of each unit.
        """
        lower = np.maximum(self.limits.lower, -np.pi)
        upper = np.minimum(self.limits.upper, np.pi)
        H = np.eye(4)
        H[:3, :3] = _random_rotation(rng)
        H[:3, 3] = rng.uniform(-1.0, 1.0, 3)
        s = rng.uniform(np.minimum(lower, upper), np.maximum(lower, upper))
        v, r = rng.uniform(-speed, speed, 6), rng.uniform(-speed, speed, self.n)
        if self.base == 'fixed':
            return State(np.eye(4), s, np.zeros(6), r)
        return State(H, s, v, r)

    def summary(self) -> str:
        """Return name, size, mass and a line for every joint, as text."""
        lines = [
            f'{self.name}: {self.base} base {self.base_link!r}, {self.n} joint coordinates, '
            f'{len(self.frames)} links in {len(self.body_names)} bodies, '
            f'{self.total_mass:.3f} kg, model {self.hash}'
        ]
        limits = self.limits
        for c, name in enumerate(self.joint_names):
            lines.append(
                f'  {c:3d} {name}: {limits.lower[c]:.3g} ... {limits.upper[c]:.3g}, '
                f'speed {limits.velocity[c]:.3g}, effort {limits.effort[c]:.3g}, '
                f'damping {self.tree.damping[c]:.3g}'
            )
        return '\n'.join((*lines, *(f'  warning: {warning}' for warning in self.warnings)))

    def __repr__(self) -> str:
        """Return name, base and size."""
        return f'TreeModel({self.name!r}, base={self.base!r}, n={self.n})'


def _gravity(values: Sequence[float]) -> Array:
    down = np.array(values, dtype=np.float64)
    if down.shape != (3,):
        raise ShapeError(f'gravity has shape {down.shape}, expected (3,) in world axes [m/s^2]')
    if not np.all(np.isfinite(down)):
        raise NotFiniteError(f'gravity is {down.tolist()}, expected finite numbers [m/s^2]')
    down.setflags(write=False)
    return down


def _random_rotation(rng: np.random.Generator) -> Array:
    w, x, y, z = _unit(rng.normal(size=4))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _unit(values: Iterable[float]) -> Array:
    array = np.asarray(values, dtype=np.float64)
    return array / np.linalg.norm(array)
