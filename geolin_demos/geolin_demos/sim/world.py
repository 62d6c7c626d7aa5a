# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot on a floor as a MuJoCo model: free base, feet that collide, everything else that not.

Made of the `TreeModel`, not of the URDF: bodies with merged inertias, joints with armature,
damping and springs, mimic joints and loops as constraints. So MuJoCo takes what its URDF reader
refuses, links without inertia above all. What no rigid body can have is repaired, with a warning.
Contact parameters stiff enough for a standing robot to sink less than a millimetre: elliptic
cones, impratio 10.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import mujoco
import numpy as np

from geolin_demos.sim.feet import balls
from geolin_ros.control.support import Support
from geolin_ros.description import mass_properties
from geolin_ros.errors import ModelError
from geolin_ros.kernels.packing.types import SINGLE_AXIS
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

FLOOR = 'floor'
FIRST_STEP, TREAD, STEPS = 0.8, 0.5, 10
"""Where steps begin, how long they are [m], and how many there are."""
_SOLREF = [0.01, 1.0]
_SOLIMP = [0.95, 0.99, 0.001, 0.5, 2.0]
_MIMIC_SOLREF = [0.004, 1.0]
_MIMIC_SOLIMP = [0.9999, 0.9999, 0.001, 0.5, 2.0]
_LEAST = 1e-12  # of masses and inertias [kg, kg m^2]: MuJoCo wants more than 1e-15
_WORTH_A_NOTE = 1e-10  # [kg m^2]


@dataclass(frozen=True)
class Floor:
    """The ground.

    Attributes
    ----------
    friction
        Coefficient.
    timestep
        Of the physics [s].
    slope
        It rises along x, through the origin [rad].
    step
        From `FIRST_STEP` on along x, every other `TREAD` is so much higher [m].
    """

    friction: float = 0.8
    timestep: float = 0.001
    slope: float = 0.0
    step: float = 0.0


class Inertial(NamedTuple):
    """What MuJoCo is given of a body."""

    mass: float
    centre: Array
    """(3,) in the body frame [m]."""
    R: Array
    """(3, 3) principal axes in the body frame."""
    moments: Array
    """(3,) about the centre of mass [kg m^2]."""
    raised: float
    """By how much at most they are above those of the model [kg m^2]."""


def inertial_of(inertia: Array) -> Inertial:
    """Return mass, centre and principal moments of a spatial inertia (6, 6), repaired.

    The second moments of mass p = (sum of the moments) / 2 - moments of a rigid body are not
    negative; those that are become zero.
    """
    mass, centre, rotational = mass_properties(inertia)
    moments, R = np.linalg.eigh(0.5 * (rotational + rotational.T))
    if np.linalg.det(R) < 0.0:
        R[:, 0] = -R[:, 0]
    second = np.maximum(0.5 * np.sum(moments) - moments, _LEAST)
    possible = np.sum(second) - second
    return Inertial(max(mass, _LEAST), centre, R, possible, float(np.max(possible - moments)))


def body_name(link: str) -> str:
    """Return what a link is called in MuJoCo, which has a world of its own."""
    return 'world link' if link == 'world' else link


def compile_world(
    model: TreeModel, supports: Sequence[Support], floor: Floor, friction: Mapping[str, float]
) -> tuple[Any, list[str]]:
    """Return the MuJoCo model, and a sentence for each inertia that had to be repaired.

    Every link of the description is a body, see `body_name`. Raises `ModelError` if the model has
    a fixed base, or joints that are neither revolute, continuous nor prismatic.

    Parameters
    ----------
    floor
        What they touch.
    friction
        Dry friction of joints by name [N m or N].
    """
    _check_kinds(model)
    spec = mujoco.MjSpec()
    spec.compiler.fusestatic = False
    spec.compiler.inertiafromgeom = int(mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE)
    spec.option.timestep = floor.timestep
    spec.option.gravity = model.gravity
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    spec.option.tolerance = 1e-10
    spec.worldbody.add_geom(
        name=FLOOR,
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0.0, 0.0, 1.0],
        quat=[np.cos(0.5 * floor.slope), 0.0, -np.sin(0.5 * floor.slope), 0.0],
        contype=1,
        conaffinity=2,
        **_contact(floor),
    )
    for k in range(STEPS if floor.step else 0):
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[0.5 * TREAD, 5.0, floor.step],
            pos=[FIRST_STEP + (2 * k + 0.5) * TREAD, 0.0, 0.0],
            contype=1,
            conaffinity=2,
            **_contact(floor),
        )
    bodies, notes = _add_bodies(spec, model, friction)
    for row in model.dependent_joints:
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_JOINT,
            name1=row.name,
            name2=row.master,
            data=[row.offset, row.multiplier, *[0.0] * (mujoco.mjNEQDATA - 2)],
            solref=_MIMIC_SOLREF,
            solimp=_MIMIC_SOLIMP,
        )
    for loop in model.loops:
        H = np.eye(4) if loop.reference is None else np.asarray(loop.reference)
        ends = {f'{loop.name} a': (loop.frame_a, np.eye(4)), f'{loop.name} b': (loop.frame_b, H)}
        for name, (frame, place) in ends.items():
            bodies[frame].add_site(name=name, pos=place[:3, 3], quat=_quaternion(place[:3, :3]))
        kinds = mujoco.mjtEq
        spec.add_equality(
            type=kinds.mjEQ_CONNECT if loop.kind == 'point' else kinds.mjEQ_WELD,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            **dict(zip(('name1', 'name2'), ends, strict=True)),
            solref=_MIMIC_SOLREF,
            solimp=_MIMIC_SOLIMP,
        )
    for support in supports:
        centres, radius = balls(support)
        for centre in centres:
            bodies[support.frame].add_geom(
                type=mujoco.mjtGeom.mjGEOM_SPHERE,
                size=[radius, 0.0, 0.0],
                pos=centre,
                contype=2,
                conaffinity=0,
                **_contact(floor),
            )
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
        inertial = inertial_of(tree.inertia[i])
        if inertial.raised > _WORTH_A_NOTE:
            notes.append(
                f'body {name!r} has an inertia that no rigid body has: in the simulator its '
                f'principal moments are {np.round(inertial.moments, 6).tolist()} kg m2, raised by '
                f'at most {inertial.raised:.2g}; correct the <inertial> of its links'
            )
        body = (bodies[tree.parent[i]] if i else spec.worldbody).add_body(
            name=body_name(name),
            pos=tree.translation[i],
            quat=_quaternion(tree.rotation[i]),
            mass=inertial.mass,
            ipos=inertial.centre,
            iquat=_quaternion(inertial.R),
            inertia=inertial.moments,
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
            found[name] = bodies[frame.body].add_body(
                name=body_name(name),
                pos=frame.placement[:3, 3],
                quat=_quaternion(frame.placement[:3, :3]),
                explicitinertial=True,
            )
    return found, notes


def _quaternion(R: Array) -> Array:
    """Return (w, x, y, z)."""
    return np.roll(se3.quaternion_from_rotation(R), 1)


def _check_kinds(model: TreeModel) -> None:
    single = model.tree.kind[1:] == SINGLE_AXIS
    mixed = np.any(model.tree.subspace[:, :3], axis=1) & np.any(model.tree.subspace[:, 3:], axis=1)
    for found, what in (
        (model.base != 'floating', 'a fixed base'),
        (not np.all(single), 'joints with several axes'),
        (bool(np.any(mixed)), 'helical joints'),
    ):
        if found:
            raise ModelError(
                f'robot {model.name!r} has {what}; the simulator takes a floating base and '
                'revolute, continuous or prismatic joints'
            )


def _contact(floor: Floor) -> dict[str, Any]:
    return {
        'friction': [floor.friction, 0.005, 0.0001],
        'condim': 3,
        'solref': _SOLREF,
        'solimp': _SOLIMP,
        'mass': 0.0,
    }
