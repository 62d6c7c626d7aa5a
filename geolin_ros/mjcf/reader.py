# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bring the bodies and joints that MuJoCo compiles from an MJCF file to a `Description`.

Defaults, includes, frames, inertias from geoms: all is MuJoCo's own compiler's.
What acts on its joints and has no counterpart here is refused by name.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from geolin_ros.description import (
    Description,
    Finding,
    Joint,
    Limits,
    Link,
    Loop,
    Mimic,
    lock_joints,
)
from geolin_ros.description.shapes import Shape
from geolin_ros.errors import ModelError, unknown_name
from geolin_ros.mjcf.text import is_mjcf
from geolin_ros.optional import optional
from geolin_ros.spatial import se3
from geolin_ros.typing import Array, IntArray

mujoco = optional('mujoco', extra='mujoco')

_TO_JOINTS = (0, 1)  # mjTRN_JOINT, mjTRN_JOINTINPARENT
_INACTIVE = 'set active="false" there'
_AROUND = 24  # points around an ellipsoid
_KINDS = ('floating', 'spherical', 'prismatic', 'revolute')  # in the order of mjtJoint


class Reading(NamedTuple):
    """A description, and what else an MJCF file says of a robot.

    ``base`` is ``'floating'`` if the root body has a free joint, ``gravity`` (3,) in world axes
    [m/s^2].
    """

    description: Description
    base: Literal['floating', 'fixed']
    gravity: tuple[float, ...]


def read(source: str | Path, root: str | None = None) -> Reading:
    """Return the links and joints of the one robot of an MJCF file.

    Raises `ConfigurationError` if MuJoCo is not installed; `ModelError` if MuJoCo cannot read it,
    it holds several moving trees, or something acts on its joints that cannot be read: equalities
    of tendons or by curves, tendons with forces, springs of ball joints, polynomial springs and
    dampers, gravity compensation, fluids, deformable bodies.

    Parameters
    ----------
    source
        Path, or MJCF text (``str`` whose first visible character is ``<``). MuJoCo opens the files
        that it includes, meshes too: read only files that you trust.
    root
        Body on the world whose tree is the robot, where several move.

    Returns
    -------
    Reading
        Bodies are links, and so is the world of a robot without a free joint. Positions are
        MuJoCo's ``qpos`` (a ball's quaternion as x, y, z, w). Hinges and slides keep reference,
        range, damping, stiffness with its rest position, dry friction and armature. Of actuators
        armature, damping (times gear squared) and limits of force count, of motors those of
        control too: efforts are those of joints. Several joints of a body are a chain with
        massless links, ``body@joint``, between. Equalities are exact, where MuJoCo's are soft: of
        two joints a mimic joint, of one a fixed joint; <connect> and <weld> are loops between
        massless links ``body@equality``. What <flag> disables is left out.
    """
    return _Reader(*_compiled(source), root).read()


def read_shapes(source: str | Path) -> dict[str, list[Shape]]:
    """Return the shapes of each body of an MJCF file or text, those that collide first.

    Meshes and ellipsoids come with their triangles. Planes, height fields and signed distance
    functions are left out. Errors as `read`.
    """
    m, _ = _compiled(source)
    types, found = mujoco.mjtGeom, dict[str, list[Shape]]()
    for g in range(m.ngeom):
        place = _pose(m.geom_pos[g], _rotation(m.geom_quat[g]))
        collides = bool(m.geom_contype[g] or m.geom_conaffinity[g])
        a, b, c = (float(edge) for edge in m.geom_size[g])
        primitives = {
            types.mjGEOM_SPHERE: ('sphere', (a,)),
            types.mjGEOM_BOX: ('box', (2.0 * a, 2.0 * b, 2.0 * c)),
            types.mjGEOM_CAPSULE: ('capsule', (a, 2.0 * b)),
            types.mjGEOM_CYLINDER: ('cylinder', (a, 2.0 * b)),
            types.mjGEOM_ELLIPSOID: ('mesh', (a, b, c)),
        }
        kind = types(int(m.geom_type[g]))
        if kind == types.mjGEOM_MESH:
            shape = _mesh(m, int(m.geom_dataid[g]), place, collides)
        elif kind in primitives:
            ball = _ball() if kind == types.mjGEOM_ELLIPSOID else None
            shape = Shape(*primitives[kind], place, collides, surface=ball)
        else:
            continue
        body = int(m.geom_bodyid[g])
        found.setdefault(_name(m.body(body), 'body', body), []).append(shape)
    return {name: sorted(of, key=lambda one: not one.is_collision) for name, of in found.items()}


def _mesh(m: Any, mesh: int, place: Array, collides: bool) -> Shape:
    """Return a mesh in the axes of its file: MuJoCo turns it to its principal ones."""
    own = _pose(m.mesh_pos[mesh], _rotation(m.mesh_quat[mesh]))
    first, count = int(m.mesh_vertadr[mesh]), int(m.mesh_vertnum[mesh])
    scale = np.array(m.mesh_scale[mesh], dtype=np.float64)
    vertices = np.array(m.mesh_vert[first : first + count], dtype=np.float64)
    vertices = (vertices @ own[:3, :3].T + own[:3, 3]) / scale
    first, count = int(m.mesh_faceadr[mesh]), int(m.mesh_facenum[mesh])
    faces = np.array(m.mesh_face[first : first + count], dtype=np.int64)
    size, at = tuple(scale.tolist()), int(m.mesh_pathadr[mesh])
    file = '' if at < 0 else m.paths[at:].partition(b'\0')[0].decode()
    return Shape('mesh', size, place @ se3.inverse(own), collides, file, (vertices, faces))


def _ball() -> tuple[Array, IntArray]:
    """Return a ball of radius 1 as triangles."""
    turns = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    slopes = np.pi * np.arange(_AROUND // 2 + 1) / (_AROUND // 2)
    slope, turn = (grid.ravel() for grid in np.meshgrid(slopes, turns, indexing='ij'))
    vertices = (np.sin(slope) * np.cos(turn), np.sin(slope) * np.sin(turn), np.cos(slope))
    row, column = np.indices((_AROUND // 2, _AROUND)).reshape(2, -1)
    a, b = row * _AROUND + column, row * _AROUND + (column + 1) % _AROUND
    faces = np.concatenate(((a, a + _AROUND, b), (b, a + _AROUND, b + _AROUND)), axis=1)
    return np.stack(vertices, axis=1), np.asarray(faces.T, dtype=np.int64)


def _compiled(source: str | Path) -> tuple[Any, str]:
    """Return what MuJoCo makes of a path or text, and words for the source."""
    text = isinstance(source, str) and source.lstrip('\ufeff \t\r\n').startswith('<')
    where = 'MJCF text' if text else str(source)
    if not text and not Path(source).is_file():
        raise ModelError(f'{where}: does not exist, expected an MJCF file; check the path')
    if not is_mjcf(source):
        raise ModelError(
            f'{where}: holds no <mujoco> element, expected MJCF; read a URDF by from_urdf'
        )
    load = mujoco.MjModel.from_xml_string if text else mujoco.MjModel.from_xml_path
    try:
        return load(str(source)), where
    except ValueError as error:
        raise ModelError(f'{where}: MuJoCo cannot read it: {error}') from error


def _name(named: Any, kind: str, index: int) -> str:
    return str(named.name or f'{kind}{index}')


class _Reader:
    def __init__(self, compiled: Any, source: str, chosen: str | None = None) -> None:
        self._m, self._source, self._chosen = compiled, source, chosen
        self._tree: int | None = None
        self._joint_names = [_name(compiled.joint(j), 'joint', j) for j in range(compiled.njnt)]
        self._body_names = [_name(compiled.body(b), 'body', b) for b in range(compiled.nbody)]
        self._springs = not self._disables('SPRING')
        self._dampers = not self._disables('DAMPER')
        self._losses = not self._disables('FRICTIONLOSS', 'CONSTRAINT')
        self._mimics, self._locked = dict[int, Mimic](), dict[str, float]()
        self._links, self._joints = list[Link](), list[Joint]()
        self._findings: list[Finding] = []
        self._check()

    def read(self) -> Reading:
        m, root = self._m, self._root()
        self._couple()
        inside = {root}
        for body in range(root, m.nbody):
            is_new = body != root
            if is_new and int(m.body_parentid[body]) not in inside:
                continue
            if body and self._tree not in (None, int(m.body_rootid[body])):
                continue
            inside.add(body)
            if is_new:
                self._join(body)
            turn = _rotation(m.body_iquat[body])
            inertia = turn @ np.diag(m.body_inertia[body]) @ turn.T
            mass, com = float(m.body_mass[body]), np.array(m.body_ipos[body])
            self._links.append(Link.from_mass(self._body_names[body], mass, com, inertia))
        loops = tuple(self._loops(inside))
        name = m.names.partition(b'\0')[0].decode() or 'robot'
        parts = tuple(self._links), tuple(self._joints)
        description = Description(name, *parts, self._source, tuple(self._findings), loops)
        here = {joint.name for joint in self._joints}
        locked = {joint: at for joint, at in self._locked.items() if joint in here}
        description, _ = lock_joints(description, locked)
        gravity = np.array(m.opt.gravity) * (not self._disables('GRAVITY'))
        return Reading(description, 'floating' if root else 'fixed', tuple(gravity.tolist()))

    def _disables(self, *flags: str) -> bool:
        """Whether <flag> disables one of them; older releases of MuJoCo have fewer."""
        bits = (getattr(mujoco.mjtDisableBit, f'mjDSBL_{flag}', 0) for flag in flags)
        return any(bool(self._m.opt.disableflags & int(bit)) for bit in bits)

    def _root(self) -> int:
        """Return the body with the free joint, or the world, 0."""
        m = self._m
        moving = sorted({int(m.body_rootid[body]) for body in m.jnt_bodyid})
        roots = [self._body_names[body] for body in moving]
        free = [int(m.jnt_bodyid[j]) for j in range(m.njnt) if m.jnt_type[j] == 0]
        if not moving:
            raise self._refusal('no joint', 'a robot', 'read a file that holds one')
        if self._chosen:
            if self._chosen not in roots:
                raise unknown_name('root', self._chosen, roots, self._source)
            self._tree = moving[roots.index(self._chosen)]
            return self._tree if self._tree in free else 0
        if free and len(moving) > 1:
            raise self._refusal(
                f'{len(moving)} trees of bodies that move apart from each other '
                f'({", ".join(map(repr, roots))})',
                'one robot',
                f'choose one by root={self._body_names[free[0]]!r}, or remove the others',
            )
        return free[0] if free else 0

    def _join(self, body: int) -> None:
        """Add what joins a body to its parent: its joints in turn, massless links between."""
        m, name = self._m, self._body_names[body]
        parent = self._body_names[m.body_parentid[body]]
        placement = _pose(m.body_pos[body], _rotation(m.body_quat[body]))
        first, count = int(m.body_jntadr[body]), int(m.body_jntnum[body])
        for j in range(first, first + count):
            placement = placement @ _pose(m.jnt_pos[j], np.eye(3))
            last = j == first + count - 1 and not np.any(m.jnt_pos[j])
            child = name if last else f'{name}@{self._joint_names[j]}'
            self._joints.append(self._joint(j, parent, child, placement))
            if not last:
                self._links.append(Link(child))
            placement, parent = _pose(-m.jnt_pos[j], np.eye(3)), child
        if parent != name:
            self._joints.append(Joint(f'{name}@fixed', 'fixed', parent, name, placement))

    def _joint(self, j: int, parent: str, child: str, placement: Array) -> Joint:
        m, kind = self._m, _KINDS[int(self._m.jnt_type[j])]
        dof, q = int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j])
        axis, rest, lower, upper = np.array(m.jnt_axis[j]), 0.0, -np.inf, np.inf
        if kind != 'spherical':
            rest = float(m.qpos_spring[q])
            back = -float(m.qpos0[q]) * axis  # MuJoCo's zero position is where XML draws it
            along, about = (back, 0.0 * axis) if kind == 'prismatic' else (0.0 * axis, back)
            placement = placement @ se3.exp(np.concatenate((along, about)))
            if m.jnt_limited[j] and not self._disables('LIMIT', 'CONSTRAINT'):
                lower, upper = m.jnt_range[j]
        armature, damping, effort = self._of_actuators(j)
        return Joint(
            *(self._joint_names[j], kind, parent, child, placement, axis),
            limits=Limits(float(lower), float(upper), effort=effort),
            damping=(float(m.dof_damping[dof]) + damping) * self._dampers,
            friction=float(m.dof_frictionloss[dof]) * self._losses,
            rotor_inertia=float(m.dof_armature[dof]) + armature,
            stiffness=float(m.jnt_stiffness[j]) * self._springs,
            rest=rest,
            mimic=self._mimics.get(j),
        )

    def _of_actuators(self, joint: int) -> tuple[float, float, float]:
        """Return armature, damping, and the largest effort, of the actuators of a joint."""
        m, none = self._m, np.zeros(self._m.nu)
        armatures = getattr(m, 'actuator_armature', none)  # older releases have none
        dampings = getattr(m, 'actuator_damping', none)
        armature, damping, efforts = 0.0, 0.0, []
        for i in range(m.nu):
            if m.actuator_trntype[i] not in _TO_JOINTS or m.actuator_trnid[i, 0] != joint:
                continue
            gear = float(m.actuator_gear[i, 0])
            armature += gear**2 * float(armatures[i])
            damping += gear**2 * float(dampings[i])
            limits = [m.actuator_forcerange[i]] if m.actuator_forcelimited[i] else []
            is_motor = (  # whose force is the control times a constant
                m.actuator_gaintype[i] == mujoco.mjtGain.mjGAIN_FIXED
                and m.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_NONE
                and m.actuator_dyntype[i] == mujoco.mjtDyn.mjDYN_NONE
            )
            if is_motor and m.actuator_ctrllimited[i] and not self._disables('CLAMPCTRL'):
                limits.append(m.actuator_gainprm[i, 0] * m.actuator_ctrlrange[i])
            if limits:
                efforts.append(abs(gear) * float(np.abs(limits).max(axis=1).min()))
        effort = sum(efforts) if efforts else np.inf
        if m.jnt_actfrclimited[joint]:
            effort = min(effort, float(np.abs(m.jnt_actfrcrange[joint]).max()))
        return armature, damping, effort

    def _equalities(self, *kinds: Any) -> Iterator[tuple[int, str]]:
        """Return number and name of each equality in force of these kinds."""
        m = self._m
        if self._disables('EQUALITY', 'CONSTRAINT'):
            return
        for e in range(m.neq):
            if m.eq_active0[e] and int(m.eq_type[e]) in map(int, kinds):
                yield e, _name(m.eq(e), 'equality', e)

    def _couple(self) -> None:
        """Find the joints that follow another, and those that stand still."""
        m, kinds = self._m, mujoco.mjtEq
        read_here = kinds.mjEQ_CONNECT, kinds.mjEQ_WELD, kinds.mjEQ_JOINT
        for _, name in self._equalities(*set(kinds.__members__.values()).difference(read_here)):
            raise self._refusal(f'equality {name!r}, of no bodies or joints', 'none', _INACTIVE)
        for e, name in self._equalities(kinds.mjEQ_JOINT):
            follower, master = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
            first, ratio, *curve = m.eq_data[e, :5].tolist()
            if master >= 0 and (any(curve) or not ratio):
                found = f'equality {name!r} of two joints that is no line'
                raise self._refusal(found, 'polycoef="a b 0 0 0"', _INACTIVE)
            start = [float(m.qpos0[m.jnt_qposadr[j]]) for j in (follower, master)]
            if master < 0:
                self._locked[self._joint_names[follower]] = start[0] + first
            else:
                offset = start[0] + first - ratio * start[1]
                self._mimics[follower] = Mimic(self._joint_names[master], ratio, offset)

    def _loops(self, inside: set[int]) -> Iterator[Loop]:
        """Yield what <connect> and <weld> close; add the joints that carry both frames."""
        m, data = self._m, self._m.eq_data
        for e, name in self._equalities(mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD):
            is_weld = m.eq_type[e] == mujoco.mjtEq.mjEQ_WELD
            bodies = [int(m.eq_obj1id[e]), int(m.eq_obj2id[e])]
            if m.eq_objtype[e] == mujoco.mjtObj.mjOBJ_SITE:
                poses = [_pose(m.site_pos[s], _rotation(m.site_quat[s])) for s in bodies]
                bodies = [int(m.site_bodyid[s]) for s in bodies]
            else:  # of a weld MuJoCo keeps the second frame first
                turn = _rotation(data[e, 6:10]) if is_weld else np.eye(3)
                poses = [_pose(data[e, :3], np.eye(3)), _pose(data[e, 3:6], turn)]
                poses = poses[::-1] if is_weld else poses
            if not inside.intersection(bodies):
                continue
            for body in bodies:
                if body not in inside:
                    found = f'equality {name!r} with body {self._body_names[body]!r}'
                    fix = f'{_INACTIVE}, or give what holds it to the world as a contact'
                    raise self._refusal(found, 'a loop within the robot', fix)
            if bodies[0] == bodies[1]:
                raise self._refusal(f'equality {name!r} of a body with itself', 'two', _INACTIVE)
            frames = [f'{self._body_names[body]}@{name}' for body in bodies]
            for frame, body, pose in zip(frames, bodies, poses, strict=True):
                holder = self._body_names[body]
                self._links.append(Link(frame))
                self._joints.append(Joint(f'{frame}@fixed', 'fixed', holder, frame, pose))
            yield Loop(frames[0], frames[1], 'surface' if is_weld else 'point')

    def _check(self) -> None:
        """Refuse what acts on the joints and cannot be read."""
        m, option = self._m, self._m.opt
        springs, dampers, losses = self._springs, self._dampers, self._losses
        passive = springs or dampers  # else MuJoCo computes none
        falls = np.any(option.gravity) and not self._disables('GRAVITY')
        of_joints = np.isin(m.actuator_trntype, _TO_JOINTS)  # else of something else
        hinges = m.jnt_type > 1  # or slides
        actuators = [
            i for i in range(m.nu) if not (of_joints[i] and hinges[m.actuator_trnid[i, 0]])
        ]
        only: dict[str, Any] = {'jnt_stiffness': np.flatnonzero(m.jnt_type <= 1)}
        only |= dict.fromkeys(('actuator_armature', 'actuator_damping'), actuators)
        for kind, field, acts, what in (
            ('joint', 'jnt_stiffness', springs, 'a spring about several axes'),
            ('joint', 'jnt_stiffnesspoly', springs, 'a spring that is not linear'),
            ('dof', 'dof_dampingpoly', dampers, 'damping that is not linear'),
            ('joint', 'jnt_plasticadr', springs, 'a spring that yields'),
            ('body', 'body_gravcomp', passive and falls, 'gravity compensation'),
            ('body', 'body_plugin', passive, 'a plugin'),
            ('tendon', 'tendon_stiffness', springs, 'a spring'),
            ('tendon', 'tendon_stiffnesspoly', springs, 'a spring'),
            ('tendon', 'tendon_damping', dampers, 'damping'),
            ('tendon', 'tendon_dampingpoly', dampers, 'damping'),
            ('tendon', 'tendon_armature', True, 'armature'),
            ('tendon', 'tendon_frictionloss', losses, 'dry friction'),
            ('actuator', 'actuator_armature', True, 'armature on what is no single joint'),
            ('actuator', 'actuator_damping', dampers, 'damping on what is no single joint'),
            ('actuator', 'actuator_dampingpoly', dampers, 'damping that is not linear'),
        ):
            values = np.asarray(getattr(m, field, ()) if acts else ())  # older ones have fewer
            if field in ('jnt_plasticadr', 'body_plugin'):
                values = values + 1  # -1 for none
            for i, value in enumerate(values):
                if np.any(value) and i in only.get(field, [i]):
                    at = int(m.dof_jntid[i]) if kind == 'dof' else i
                    kind = kind.replace('dof', 'joint')
                    name = _name(getattr(m, kind)(at), kind, at)
                    fix = 'set it to zero, or give it as torque'
                    raise self._refusal(f'{what} of {kind} {name!r}', 'none', fix)
        for field, acts in (('armature', True), ('damping', dampers), ('frictionloss', losses)):
            for j in np.flatnonzero(m.jnt_type == 0)[:1]:
                value = getattr(m, f'dof_{field}')[m.jnt_dofadr[j]]
                if acts and value:
                    problem = f'has {field} {value:g}, left out: the base moves freely'
                    fix = f'set {field}="0", or give the force as a wrench'
                    where = f'joint {self._joint_names[j]!r}'
                    self._findings.append(Finding('warning', where, problem, fix))
        if passive and (option.density or option.viscosity):
            what = 'a fluid (density or viscosity of <option>)'
            raise self._refusal(what, 'rigid bodies in a vacuum', 'remove it')
        if m.nflex:
            raise self._refusal('deformable bodies (<flex>)', 'rigid ones', 'remove them')

    def _refusal(self, found: str, expected: str, fix: str) -> ModelError:
        return ModelError(f'{self._source}: holds {found}, expected {expected}; {fix}')


def _rotation(quaternion: Array) -> Array:
    """Return the rotation of a quaternion (w, x, y, z)."""
    return se3.rotation_from_quaternion(np.roll(quaternion, -1))


def _pose(position: Array, rotation: Array) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose
