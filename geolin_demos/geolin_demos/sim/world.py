# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot on a floor as a MuJoCo model: free base, feet that collide, everything else that not.

Made of the `TreeModel`, not of the URDF: bodies with merged inertias, mimic joints and loops as
constraints. So MuJoCo takes what its URDF reader refuses, links without inertia above all. What no
rigid body can have is repaired, with a note.

A point touches the floor by a ball about its contact frame, a sole by small balls at its points.
Contacts are stiff enough for a standing robot to sink less than a millimetre.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from geolin_ros.control.support import Support
from geolin_ros.description import mass_properties
from geolin_ros.errors import ConfigurationError, ModelError
from geolin_ros.kernels.packing.types import SINGLE_AXIS
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

FLOOR = 'floor'
FIRST_STEP, TREAD, STEPS = 0.8, 0.5, 10
"""Where steps begin, how long they are [m], and how many there are."""
SMALL_RADIUS = 0.005
"""Of the balls of a sole, and of a point that is no ball [m]."""
ON, OFF = 0.3, 0.2
"""Thresholds of foot forces, in shares of what each foot carries when all do."""
_LEAST = 1e-12  # of masses and inertias [kg, kg m^2]: MuJoCo wants more than 1e-15
_WORTH_A_NOTE = 1e-10  # [kg m^2]


@dataclass(frozen=True)
class Floor:
    """The ground, and the time step of the physics [s].

    It rises along x, through the origin, by ``slope`` [rad]; from `FIRST_STEP` on every other
    `TREAD` is higher by ``step`` [m].
    """

    friction: float = 0.8
    timestep: float = 0.001
    slope: float = 0.0
    step: float = 0.0


def balls(support: Support) -> tuple[Array, float]:
    """Return the centres (k, 3) in the link's axes and the radius of what touches the floor."""
    placement = np.asarray(support.placement, dtype=np.float64)
    points = np.array(support.points, dtype=np.float64)
    if support.kind == 'surface':
        points[:, 2] += SMALL_RADIUS
    return points @ placement[:3, :3].T + placement[:3, 3], support.radius or SMALL_RADIUS


def parse_feet(text: str) -> list[str]:
    """Return the feet, as `control.soles.read_feet` takes them, of a list with commas between.

    Raises `ConfigurationError` if it is empty.
    """
    parts = re.findall(r'[^,@]+(?:@[^,]*,[^,]*,[^,]*)?', text)
    if not parts:
        raise ConfigurationError(f'feet {text!r} name no frame, expected frame,frame,...')
    return [part.strip() for part in parts]


def text_of(support: Support) -> str:
    """Return the text that `Support.parse` reads; of a sole it is the rectangle around it."""
    x, y, z = np.asarray(support.placement)[:3, 3]
    offset = f'@{x:.6g},{y:.6g},{z:.6g}' if any((x, y, z)) else ''
    if support.kind == 'point':
        return f'{support.frame}:{support.radius:.6g}{offset}'
    length, width, _ = np.ptp(np.asarray(support.points), axis=0)
    return f'{support.frame}:{length:.6g}x{width:.6g}{offset}'


def body_name(link: str) -> str:
    """Return what a link is called in MuJoCo, which has a world of its own."""
    return 'world link' if link == 'world' else link


def compile_world(
    model: TreeModel, supports: Sequence[Support], floor: Floor, friction: Mapping[str, float]
) -> tuple[Any, list[str]]:
    """Return the MuJoCo model, and a sentence for each inertia that had to be repaired.

    Every link of the description is a body, see `body_name`; ``friction`` is that of joints, by
    name [N m or N]. Raises `ModelError` if the model has a fixed base, or joints that are neither
    revolute, continuous nor prismatic.
    """
    mixed = np.any(model.tree.subspace[:, :3], axis=1) & np.any(model.tree.subspace[:, 3:], axis=1)
    if model.base != 'floating' or np.any(model.tree.kind[1:] != SINGLE_AXIS) or np.any(mixed):
        raise ModelError(
            f'robot {model.name!r} has a {model.base} base or joints of several axes; the '
            'simulator takes a floating base and revolute, continuous or prismatic joints'
        )
    spec = mujoco.MjSpec()
    spec.compiler.fusestatic = False
    spec.compiler.inertiafromgeom = int(mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE)
    spec.option.timestep = floor.timestep
    spec.option.gravity = model.gravity
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    spec.option.tolerance = 1e-10
    touching, tied = spec.default.geom, spec.default.equality
    touching.friction, touching.condim, touching.mass = [floor.friction, 0.005, 0.0001], 3, 0.0
    touching.solref, touching.solimp = [0.01, 1.0], [0.95, 0.99, 0.001, 0.5, 2.0]
    touching.contype, touching.conaffinity = 1, 2  # the ground's
    tied.solref, tied.solimp = [0.004, 1.0], [0.9999, 0.9999, 0.001, 0.5, 2.0]
    kinds = mujoco.mjtEq
    spec.worldbody.add_geom(
        name=FLOOR,
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0.0, 0.0, 1.0],
        quat=[np.cos(0.5 * floor.slope), 0.0, -np.sin(0.5 * floor.slope), 0.0],
    )
    for k in range(STEPS if floor.step else 0):
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[0.5 * TREAD, 5.0, floor.step],
            pos=[FIRST_STEP + (2 * k + 0.5) * TREAD, 0.0, 0.0],
        )
    bodies, notes = _add_bodies(spec, model, friction)
    for row in model.dependent_joints:
        data = [row.offset, row.multiplier, *[0.0] * (mujoco.mjNEQDATA - 2)]
        spec.add_equality(type=kinds.mjEQ_JOINT, name1=row.name, name2=row.master, data=data)
    for loop in model.loops:
        one, other = f'{loop.name} a', f'{loop.name} b'
        H = np.eye(4) if loop.reference is None else np.asarray(loop.reference)
        bodies[loop.frame_a].add_site(name=one)
        bodies[loop.frame_b].add_site(name=other, pos=H[:3, 3], quat=_quaternion(H[:3, :3]))
        spec.add_equality(
            type=kinds.mjEQ_CONNECT if loop.kind == 'point' else kinds.mjEQ_WELD,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            name1=one,
            name2=other,
        )
    ball = {'type': mujoco.mjtGeom.mjGEOM_SPHERE, 'contype': 2, 'conaffinity': 0}
    for support in supports:
        centres, radius = balls(support)
        for centre in centres:
            bodies[support.frame].add_geom(size=[radius, 0.0, 0.0], pos=centre, **ball)
    try:
        return spec.compile(), notes
    except ValueError as error:
        raise ModelError(f'MuJoCo cannot simulate robot {model.name!r}: {error}') from error


def _add_bodies(
    spec: Any, model: TreeModel, friction: Mapping[str, float]
) -> tuple[dict[str, Any], list[str]]:
    """Add bodies and, without mass, other links; return them by name, and what was repaired."""
    tree, notes = model.tree, []
    bodies: list[Any] = []
    for i, name in enumerate(model.body_names):
        mass, centre, R, moments, raised = inertial_of(tree.inertia[i])
        if raised > _WORTH_A_NOTE:
            notes.append(
                f'body {name!r} has an inertia that no rigid body has: in the simulator its '
                f'principal moments are {np.round(moments, 6).tolist()} kg m2, raised by '
                f'at most {raised:.2g}; correct the <inertial> of its links'
            )
        body = (bodies[tree.parent[i]] if i else spec.worldbody).add_body(
            name=body_name(name),
            pos=tree.translation[i],
            quat=_quaternion(tree.rotation[i]),
            mass=mass,
            ipos=centre,
            iquat=_quaternion(R),
            inertia=moments,
            explicitinertial=True,
        )
        bodies.append(body)
        if i == 0:
            body.add_freejoint()
            continue
        c = int(tree.v_start[i])
        linear, angular = np.split(tree.subspace[c], 2)
        turns = bool(np.any(angular))
        joint = model.coordinate_names[c]
        body.add_joint(
            name=joint,
            type=mujoco.mjtJoint.mjJNT_HINGE if turns else mujoco.mjtJoint.mjJNT_SLIDE,
            axis=angular if turns else linear,
            armature=float(tree.armature[c]),
            damping=[float(tree.damping[c]), 0.0, 0.0],
            stiffness=[float(tree.stiffness[c]), 0.0, 0.0],
            springref=float(tree.rest[c]),
            frictionloss=float(friction.get(joint, 0.0)),
            limited=mujoco.mjtLimited.mjLIMITED_FALSE,
            actfrclimited=mujoco.mjtLimited.mjLIMITED_FALSE,
        )
    found = dict(zip(model.body_names, bodies, strict=True))
    for name, frame in model.frames.items():
        if name not in found:
            H = frame.placement
            place = {'pos': H[:3, 3], 'quat': _quaternion(H[:3, :3])}
            new = bodies[frame.body].add_body(name=body_name(name), explicitinertial=True, **place)
            found[name] = new
    return found, notes


def inertial_of(inertia: Array) -> tuple[float, Array, Array, Array, float]:
    """Return mass, centre, principal axes (3, 3) and moments (3,) of a spatial inertia (6, 6).

    The second moments of mass p = (sum of the moments) / 2 - moments of a rigid body are not
    negative; those that are become zero. The last number is by how much moments are raised so.
    """
    mass, centre, rotational = mass_properties(inertia)
    moments, R = np.linalg.eigh(0.5 * (rotational + rotational.T))
    R[:, 0] *= np.sign(np.linalg.det(R))
    second = np.maximum(0.5 * np.sum(moments) - moments, _LEAST)
    possible = np.sum(second) - second
    return max(mass, _LEAST), centre, R, possible, float(np.max(possible - moments))


def _quaternion(R: Array) -> Array:
    """Return (w, x, y, z)."""
    return np.roll(se3.quaternion_from_rotation(R), 1)
