# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A URDF on a floor as a MuJoCo model: free base, feet that collide, everything else that not.

MuJoCo's own URDF reader gives bodies, inertias, joints and dry friction; armature and damping are
the model's, which may hold more than the URDF says. Contact parameters stiff enough for a standing
robot to sink less than a millimetre: elliptic cones, impratio 10.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from geolin_ros import se3
from geolin_ros.control.support import Support
from geolin_ros.errors import ModelError, unknown_name
from geolin_ros.model.tree import TreeModel
from geolin_ros.sim.feet import Shape, balls, support_of_shapes

FLOOR = 'floor'
_SOLREF = [0.01, 1.0]
_SOLIMP = [0.95, 0.99, 0.001, 0.5, 2.0]
_MASS_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Floor:
    """The ground: friction coefficient, time step of the physics [s]."""

    friction: float = 0.8
    timestep: float = 0.001


def compile_world(
    text: str, model: TreeModel, feet: Sequence[str | Support], floor: Floor
) -> tuple[Any, list[Support]]:
    """Return the MuJoCo model and its feet; of a name the shape is the URDF's.

    Raises
    ------
    ModelError
        If MuJoCo cannot read the URDF, its joints or its mass are not the model's, or the model
        has a fixed base, mimic or locked joints, or joints with several axes.
    UnknownNameError
        If a foot is no link of the URDF.
    """
    _check_kinds(model)
    spec = _read(text)
    bodies = {body.name: body for body in spec.bodies}
    supports = [_support(foot, bodies) for foot in feet]
    for geom in list(spec.geoms):
        spec.delete(geom)
    for mesh in list(spec.meshes):
        spec.delete(mesh)
    spec.compiler.fusestatic = False
    spec.compiler.inertiafromgeom = int(mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE)
    spec.compiler.balanceinertia = False
    spec.option.timestep = floor.timestep
    spec.option.gravity = model.gravity
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    spec.worldbody.first_body().add_freejoint()
    _set_joints(spec, model)
    spec.worldbody.add_geom(
        name=FLOOR,
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0.0, 0.0, 1.0],
        contype=1,
        conaffinity=2,
        **_contact(floor),
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
        compiled = spec.compile()
    except ValueError as error:
        raise ModelError(f'MuJoCo cannot simulate robot {model.name!r}: {error}') from error
    mass = float(np.sum(compiled.body_mass))
    if abs(mass - model.total_mass) > _MASS_TOLERANCE * model.total_mass:
        raise ModelError(
            f'robot {model.name!r} weighs {mass:g} kg in MuJoCo, expected {model.total_mass:g} kg'
            ' as in the model: payloads of an overlay belong into the URDF'
        )
    return compiled, supports


def read_supports(text: str, feet: Sequence[str | Support]) -> list[Support]:
    """Return the feet of a URDF; of a name the shape is the URDF's. Errors as `compile_world`."""
    bodies = {body.name: body for body in _read(text).bodies}
    return [_support(foot, bodies) for foot in feet]


def _read(text: str) -> Any:
    """Return the robot as MuJoCo reads it."""
    try:
        spec = mujoco.MjSpec.from_string(text)
    except ValueError as error:
        raise ModelError(f'MuJoCo cannot read the URDF: {error}') from error
    if spec.worldbody.first_body() is None:
        raise ModelError('MuJoCo finds no link in the URDF')
    return spec


def _check_kinds(model: TreeModel) -> None:
    for found, what in (
        (model.base != 'floating', 'a fixed base'),
        (bool(model.dependent_joints), 'mimic joints'),
        (bool(model.locked_joints), 'locked joints'),
        (model.n_q != model.n, 'joints with several axes'),
    ):
        if found:
            raise ModelError(
                f'robot {model.name!r} has {what}; the simulator takes a floating base and '
                'revolute, continuous or prismatic joints'
            )


def _set_joints(spec: Any, model: TreeModel) -> None:
    """Give the joints armature and damping of the model; position limits do not act."""
    joints = {joint.name: joint for joint in spec.joints if joint.name}
    if set(joints) != set(model.joint_names):
        odd = sorted(set(joints) ^ set(model.joint_names))
        raise ModelError(
            f'robot {model.name!r} has other joints in MuJoCo than in the model: {", ".join(odd)}'
        )
    for index, name in enumerate(model.joint_names):
        joint = joints[name]
        joint.armature = float(model.tree.armature[index])
        joint.damping = [float(model.tree.damping[index]), 0.0, 0.0]
        joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
        joint.actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE


def _support(foot: str | Support, bodies: dict[str, Any]) -> Support:
    frame = foot if isinstance(foot, str) else foot.frame
    if frame not in bodies or frame == 'world':
        links = [name for name in bodies if name != 'world']
        raise unknown_name('foot', frame, links, 'the links of the robot')
    if isinstance(foot, Support):
        return foot
    sizes = {mujoco.mjtGeom.mjGEOM_SPHERE: 1, mujoco.mjtGeom.mjGEOM_BOX: 3}
    found = []
    for geom in bodies[frame].geoms:
        if geom.type in sizes and geom.contype:
            placement = np.eye(4)
            placement[:3, :3] = se3.rotation_from_quaternion(np.roll(geom.quat, -1))
            placement[:3, 3] = geom.pos
            found.append(Shape(placement, tuple(geom.size[: sizes[geom.type]].tolist())))
    return support_of_shapes(frame, found)


def _contact(floor: Floor) -> dict[str, Any]:
    return {
        'friction': [floor.friction, 0.005, 0.0001],
        'condim': 3,
        'solref': _SOLREF,
        'solimp': _SOLIMP,
        'mass': 0.0,
    }
