# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Make the moving pictures of README and documentation: docs/walk.webp, balance.webp, view.webp.

python tools/films.py [walk] [balance] [view]     (all by default)

The first two are `make walk` and `make balance` without DDS: robots, pushes and laws in one
process, drawn by MuJoCo without a screen (EGL, or what MUJOCO_GL says). The last is the page of
`geolin view` in Chromium, about the same simulation. It is a film of pictures: the next moment
comes when the last one is drawn, however long a slow machine takes.
"""

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault('MUJOCO_GL', 'egl')

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the browser of the benchmarks
MOST = 3 * 10**6
"""Bytes of a film; of the one that walks, half of them."""
RATE = 15
"""Frames a second of the films of robots;"""
VIEW_RATE = 10
"""of the page."""
VIEW_SECONDS, VIEW_SIZE = 3.6, (880, 600)
FEET = 'FL_foot', 'FR_foot', 'RL_foot', 'RR_foot'
RED, GREEN = (0.75, 0.2, 0.15, 1.0), (0.2, 0.55, 0.3, 1.0)
BLUE, ORANGE = (0.2, 0.4, 0.8, 1.0), (0.9, 0.55, 0.1, 1.0)
"""Of pushes, forces of the floor, paths of feet and of the base."""
PATIENCE = 600.0
"""With a browser [s]."""
TWO_FRAMES = """
const done = arguments[0];
requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30)));
"""


def save(frames: list[Any], path: Path, rate: int = RATE, most: int = MOST) -> None:
    """Write an animated WebP, by the best quality that fits."""
    images = [Image.fromarray(frame) for frame in frames]
    for quality in (80, 60, 45, 30, 20):
        images[0].save(
            path,
            save_all=True,
            append_images=images[1:],
            duration=1000 // rate,
            loop=0,
            quality=quality,
            method=4,
        )
        if path.stat().st_size <= most:
            break
    size = path.stat().st_size
    print(f'{path.relative_to(ROOT)}: {len(images)} frames, {size / 1e6:.2f} MB')
    if size > most:
        raise SystemExit(f'films: {path} has {size} bytes, expected at most {most}')


def walk() -> None:
    """Film a quadruped and a humanoid side by side that walk, pushed."""
    from geolin_walking.reference import Command

    left = walked('quadruped', FEET, [Command(0.5), Command(0.3, 0.0, 0.8)], 0.1, 1.2)
    right = walked('humanoid', ('left_foot', 'right_foot'), [Command(0.2)] * 2, 0.025, 2.55)
    frames = [np.hstack(pair) for pair in zip(left, right, strict=True)]
    save(frames, ROOT / 'docs' / 'walk.webp', most=MOST // 2)


def walked(
    robot: str, feet: tuple[str, ...], commands: list[Any], impulse: float, distance: float
) -> Iterator[Any]:
    """Yield frames of a robot that walks by two commands and is pushed: forces, plan of the feet.

    Drawn are the forces of the floor, footholds, and where feet and base go by the plan.
    """
    import mujoco
    from geolin_demos.sim.simulator import Simulator, push_of
    from geolin_demos.walk.course import CYCLE, Course, in_process, prepare
    from geolin_demos.walk.course import walk as walk_on
    from geolin_tools.view.scene import drawn

    from geolin_ros import TreeModel, robots

    path = robots.path(robot)
    overlay = {'joints': {'*': {'rotor_inertia': 0.01, 'gear_ratio': 1.0}}}
    model = TreeModel.from_urdf(path, overlay=overlay)
    simulator = Simulator(path, model, feet)
    simulator.pushes = [
        push_of(impulse, angle, start, model.total_mass)
        for angle, start in ((0.5 * np.pi, 2.5), (-0.6 * np.pi, 5.0))
    ]
    walker = prepare(simulator)
    figure, camera = Figure(simulator, drawn(model, path)), mujoco.MjvCamera()
    camera.distance, camera.azimuth, camera.elevation = distance, 140.0, -14.0
    height = 0.62 * simulator.state.H[2, 3]
    at, weight = simulator.state.H[:2, 3].copy(), 9.81 * model.total_mass
    next_frame, half = 1.0, 4.0
    answers = walk_on(
        simulator,
        in_process(walker),
        lambda time: commands[0] if time < half else commands[1],
        2.0 * half,
        Course(),
    )
    for answer in answers:
        if simulator.time < next_frame:
            continue
        next_frame += 1.0 / RATE
        at += 3.0 * CYCLE * (simulator.state.H[:2, 3] - at) / (RATE * CYCLE)
        camera.lookat[:] = *at, height
        plan, lines = answer.plan, []
        places = walker.planner.legs.points(plan.states)
        for k, (frame, wrench) in enumerate(simulator.wrenches().items()):
            p, force = places.p[0, k], places.R[0, k] @ wrench[:3] / weight
            if np.linalg.norm(force) > 0.05:
                lines.append((p, p + 1.2 * height * force, GREEN, 0.009 * distance))
            if any(frame not in names for names in plan.in_force):
                lines += _path(places.p[:, k], BLUE, distance)
        lines += _path(plan.states[:, [3, 7, 11]], ORANGE, distance)
        for push in simulator.pushes:
            if _is_seen(push, simulator.time):
                along = np.array(push.force) / np.linalg.norm(push.force)
                base = plan.states[0, [3, 7, 11]]
                ends = base - 1.2 * height * along, base - 0.1 * along
                lines.append((*ends, RED, 0.014 * distance))
        yield figure.draw(camera, lines)


def _path(places: Any, colour: tuple[float, ...], distance: float) -> list[Any]:
    """Return the lines along a path."""
    return [
        (a, b, colour, 0.004 * distance)
        for a, b in zip(places[:-1:2], places[2::2], strict=False)
        if np.linalg.norm(b - a) > 1e-4
    ]


def balance() -> None:
    """Film a quadruped and a humanoid side by side, pushed."""
    left = list(pushed('quadruped', FEET, 0.06, 1.1))
    right = list(pushed('humanoid', ('left_foot', 'right_foot'), 0.025, 2.6))
    frames = [np.hstack(pair) for pair in zip(left, right, strict=True)]
    save(frames, ROOT / 'docs' / 'balance.webp')


def pushed(robot: str, feet: tuple[str, ...], impulse: float, distance: float) -> Iterator[Any]:
    """Yield frames of a robot on LQR that is pushed four times."""
    import mujoco
    from geolin_demos.balance.baseline import ScheduledLqr
    from geolin_demos.balance.cases import stand
    from geolin_demos.sim.simulator import PERIOD, Simulator, push_of
    from geolin_tools.view.scene import drawn

    from geolin_ros import TreeModel, robots
    from geolin_ros.dynamics.momentum import centre_of_mass

    path = robots.path(robot)
    overlay = {'joints': {'*': {'rotor_inertia': 0.01, 'gear_ratio': 1.0}}}
    model = TreeModel.from_urdf(path, overlay=overlay)
    simulator = Simulator(path, model, feet)
    motion = stand(simulator, 8.0)
    angles = (0.5 * np.pi, 0.0, -0.5 * np.pi, 0.75 * np.pi)
    simulator.pushes = [
        push_of(impulse, angle, 0.5 + 1.9 * k, model.total_mass) for k, angle in enumerate(angles)
    ]
    simulator.reset(motion.reference(0.0))
    law = ScheduledLqr(model, motion)
    figure = Figure(simulator, drawn(model, path))
    centre = centre_of_mass(model, simulator.state).com
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance = (centre[0], centre[1], 0.75 * centre[2]), distance
    camera.azimuth, camera.elevation = 130.0, -14.0
    steps = round(1.0 / (RATE * PERIOD))
    for index in range(round(8.0 / PERIOD)):
        if index % steps == 0:
            now = [push for push in simulator.pushes if _is_seen(push, simulator.time)]
            at = centre_of_mass(model, simulator.state).com
            along = [np.array(push.force) / np.linalg.norm(push.force) for push in now]
            arrows = [(at - 0.55 * a, at - 0.15 * a, RED, 0.02) for a in along]
            yield figure.draw(camera, arrows)
        simulator.advance(law(simulator.time, simulator.state), PERIOD)


def _is_seen(push: Any, time: float) -> bool:
    """Return whether the arrow of a push is drawn: longer than it acts, for the eye."""
    return bool(push.start <= time < push.start + 0.3)


class Figure:
    """Draws a simulated robot: its solids at the poses that MuJoCo has."""

    SIZE = 300, 360

    def __init__(self, simulator: Any, figure: Any) -> None:
        import mujoco
        from geolin_tools.view.scene import BASE, LIMB, OTHER

        self._mujoco, self._simulator = mujoco, simulator
        spec = mujoco.MjSpec()
        spec.visual.global_.offwidth, spec.visual.global_.offheight = (
            2 * self.SIZE[1],
            2 * self.SIZE[0],
        )
        spec.visual.quality.shadowsize = 2048
        spec.visual.headlight.ambient = [0.45, 0.45, 0.45]
        spec.visual.headlight.diffuse = [0.35, 0.35, 0.35]
        spec.worldbody.add_light(
            pos=[1.0, -1.0, 4.0], dir=[-0.2, 0.2, -1.0], diffuse=[0.5, 0.5, 0.5]
        )
        spec.add_texture(
            name='sky', type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=64, height=64,
            builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT, rgb1=[1, 1, 1], rgb2=[1, 1, 1],
        )  # fmt: skip
        spec.add_texture(
            name='tiles', type=mujoco.mjtTexture.mjTEXTURE_2D, width=256, height=256,
            builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
            rgb1=[0.93, 0.94, 0.95], rgb2=[0.87, 0.89, 0.91],
        )  # fmt: skip
        floor = spec.add_material(name='floor', texrepeat=[4, 4], texuniform=True)
        floor.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = 'tiles'
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_PLANE, size=[20, 20, 1], material='floor'
        )
        bodies = [
            spec.worldbody.add_body(name=str(k), mocap=True)
            for k in range(len(simulator.model.body_names))
        ]
        for number, solid in enumerate(figure.solids):
            colour = BASE if solid.body == 0 else (LIMB if solid.body % 2 else OTHER)
            spec.add_mesh(
                name=f'm{number}',
                uservert=solid.mesh.vertices.ravel(),
                userface=solid.mesh.faces.ravel(),
                inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
            )
            bodies[solid.body].add_geom(
                type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f'm{number}', contype=0, conaffinity=0,
                rgba=[*(np.array(colour) / 255.0), 1.0],
            )  # fmt: skip
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._renderer = mujoco.Renderer(self._model, 2 * self.SIZE[0], 2 * self.SIZE[1])

    def draw(self, camera: Any, arrows: list[Any]) -> Any:
        """Return a frame (h, w, 3), with arrows: from, to, colour, width."""
        from geolin_ros.dynamics.kinematics import Kinematics
        from geolin_ros.spatial import se3

        mujoco, H = self._mujoco, Kinematics(self._simulator.model, self._simulator.state).H
        for k, pose in enumerate(H):
            self._data.mocap_pos[k] = pose[:3, 3]
            self._data.mocap_quat[k] = np.roll(se3.quaternion_from_rotation(pose[:3, :3]), 1)
        mujoco.mj_forward(self._model, self._data)
        self._renderer.update_scene(self._data, camera)
        scene = self._renderer.scene
        for begin, end, colour, width in arrows:
            geom = scene.geoms[scene.ngeom]
            mujoco.mjv_initGeom(
                geom, mujoco.mjtGeom.mjGEOM_ARROW, np.zeros(3), np.zeros(3), np.zeros(9),
                np.array(colour, dtype=np.float32),
            )  # fmt: skip
            is_arrow = colour in (RED, GREEN)
            kind = mujoco.mjtGeom.mjGEOM_ARROW if is_arrow else mujoco.mjtGeom.mjGEOM_CAPSULE
            mujoco.mjv_connector(geom, kind, width, begin, end)
            scene.ngeom += 1
        image = Image.fromarray(self._renderer.render())
        return np.asarray(image.resize((self.SIZE[1], self.SIZE[0]), Image.Resampling.LANCZOS))


class Moments:
    """A quadruped that LQR holds up, pushed twice: what the page shows, frame after frame."""

    def __init__(self, seconds: float) -> None:
        from geolin_demos.balance.baseline import ScheduledLqr
        from geolin_demos.balance.cases import stand
        from geolin_demos.sim.simulator import Simulator, push_of

        from geolin_ros import Linearizer, TreeModel, robots

        self.description = robots.path('quadruped')
        overlay = {'joints': {'*': {'rotor_inertia': 0.01, 'gear_ratio': 1.0}}}
        self.model = TreeModel.from_urdf(self.description, overlay=overlay)
        self._simulator = Simulator(self.description, self.model, FEET)
        motion = stand(self._simulator, seconds)
        self._simulator.pushes = [
            push_of(0.06, 0.25 * np.pi, 0.3, self.model.total_mass),
            push_of(0.06, -0.6 * np.pi, 2.0, self.model.total_mass),
        ]
        self._simulator.reset(motion.reference(0.0))
        self._law, self._linearizer = ScheduledLqr(self.model, motion), Linearizer(self.model)
        self.is_still = False

    def add_controls(self, gui: Any) -> None:
        """Add nothing."""

    def newest(self) -> Any:
        """Return the next instant; None once all is still."""
        from geolin_demos.sim.simulator import PERIOD
        from geolin_tools.view.source import Instant

        from geolin_ros.dynamics.kinematics import Kinematics
        from geolin_ros.stream.outputs.markers import Force, contact_forces

        if self.is_still:
            return None
        simulator = self._simulator
        for _ in range(round(1.0 / (VIEW_RATE * PERIOD))):
            tau = self._law(simulator.time, simulator.state)
            simulator.advance(tau, PERIOD)
        state = simulator.state.copy()
        at, supports = Kinematics(self.model, state), tuple(simulator.feet.values())
        self._linearizer.contacts = tuple(one.grounded(at).contact for one in supports)
        L = self._linearizer(state, tau)
        forces = contact_forces(at, L.contacts, L.wrenches)
        forces += tuple(
            Force(state.H[:3, 3].copy(), np.array(push.force), False)
            for push in simulator.pushes
            if _is_seen(push, simulator.time)
        )
        return Instant(simulator.time, state, L.A.copy(), L.B.copy(), 0.0, forces, supports)

    def health(self) -> None:
        """Return nothing."""

    def close(self) -> None:
        """Nothing was opened."""


def view() -> None:
    """Film the page of a pushed quadruped, then two modes of its posture."""
    from geolin_tools.view.page import Page
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.wait import WebDriverWait

    from benchmarks.watcher import browser

    frames: list[Any] = []
    moments = Moments(VIEW_SECONDS)
    page = Page(moments, port=8099)
    try:
        with browser() as window:
            window.set_script_timeout(PATIENCE)
            window.set_window_size(*VIEW_SIZE)
            window.get(page.url)
            wait = WebDriverWait(window, PATIENCE, 0.1)

            def shoot(words: str) -> None:
                """Draw a frame, and take its picture when the browser has."""
                page.step()
                page._remark.content = words  # what is sent last
                wait.until(lambda _: words in window.find_element(By.TAG_NAME, 'body').text)
                window.execute_async_script(TWO_FRAMES)
                png = window.get_screenshot_as_png()
                frames.append(np.asarray(Image.open(io.BytesIO(png)).convert('RGB')))
                print(f'view: frame {len(frames)}', end='\r', flush=True)

            wait.until(lambda _: window.find_elements(By.CSS_SELECTOR, '.js-plotly-plot'))
            for button in window.find_elements(
                By.CSS_SELECTOR, '.mantine-Notification-closeButton'
            ):
                button.click()
            shoot('a robot that LQR holds up')
            frames.clear()  # the page may still have been loading
            for _ in range(round(VIEW_SECONDS * VIEW_RATE)):
                shoot(f'pushed, {moments._simulator.time:.1f} s')
            moments.is_still = True
            page._modes.analyse()
            tab = window.find_element(By.CSS_SELECTOR, '[role=tab][title="modes"]')
            wait.until(lambda _: tab.click() or tab.get_attribute('aria-selected') == 'true')
            for number, choice in enumerate(list(page._modes._modes)[:2], 1):
                page._modes._choice.value = choice
                for k in range(10):
                    page._modes.phase = 2.0 * np.pi * k / 10
                    shoot(f'mode {number}, phase {36 * k} degrees')
    finally:
        page.close()
    save(frames, ROOT / 'docs' / 'view.webp', VIEW_RATE)


if __name__ == '__main__':
    films = {'walk': walk, 'balance': balance, 'view': view}
    for name in sys.argv[1:] or films:
        films[name]()
