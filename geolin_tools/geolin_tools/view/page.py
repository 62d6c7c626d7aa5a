# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The page: a viser server that shows what a source says, thirty times a second."""

import asyncio
import contextlib
import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError
from geolin_ros.optional import optional
from geolin_ros.typing import Array
from geolin_tools.view.panels import HealthPanel, HeatMap, ModePanel, Spectrum
from geolin_tools.view.scene import Drawn, Scene, drawn
from geolin_tools.view.source import Instant, Source

viser = optional('viser', extra='view')
RATE = 30.0
"""Frames a second."""
PERIODS = {'spectrum': 0.25, 'matrices': 1.0, 'health': 0.5, 'modes': 0.5}
"""Least time from one look of a panel to the next [s]."""
FRICTION = 0.8


class Page:
    """Serves the page of one source until it is closed; port 0 is any.

    ``say`` is called with what is drawn otherwise than described. Raises `ConfigurationError` if
    the extra is not installed, or the port is taken.
    """

    def __init__(
        self,
        source: Source,
        host: str = '127.0.0.1',
        port: int = 8080,
        say: Callable[[str], object] = lambda sentence: None,
    ) -> None:
        self._source, self._say = source, say
        figure = self._drawn()
        with _quiet():
            self._server = server = viser.ViserServer(host=host, port=port, verbose=False)
        found = server.get_port()
        self.url = f'http://{server.get_host()}:{found}'
        """Where a browser finds the page."""
        if port and found != port:
            with _quiet():
                server.stop()
            raise ConfigurationError(
                f'port {port} of {host} is taken, expected a free one; give --port {found}'
            )
        server.gui.configure_theme(show_logo=False, show_share_button=False, dark_mode=False)
        self._fill(figure)

    def _drawn(self) -> Drawn:
        figure = drawn(self._source.model, self._source.description)
        for note in figure.notes:
            self._say(note)
        return figure

    def _fill(self, figure: Drawn) -> None:
        """Add scene and panels; the first instant says where the ground is."""
        source, gui, model = self._source, self._server.gui, self._source.model
        gui.set_panel_label(model.name)
        self._model = model
        self._due = dict.fromkeys(PERIODS, 0.0)
        self._shown: dict[str, Array] = {}
        self._remark = gui.add_markdown('')
        source.add_controls(gui)
        self._instant = first = source.newest() or Instant(0.0, model.neutral_state())
        at = Kinematics(model, first.state)
        places = at.H[:, :3, 3]
        on_ground = [one.world_points(at) for one in first.supports] or [places]
        ground = float(np.concatenate(on_ground)[:, 2].min())
        self._scene = Scene(self._server, model, figure, ground, FRICTION)
        # from ahead of the robot, from its left and from above
        middle = 0.5 * (places.min(axis=0) + places.max(axis=0))
        size = max(float(np.linalg.norm(np.ptp(places, axis=0))), 0.5)
        self._server.initial_camera.look_at = tuple(middle)
        self._server.initial_camera.position = tuple(middle + size * np.array([1.1, 1.2, 0.6]))
        tabs = gui.add_tab_group()
        self._panels: dict[str, HeatMap | Spectrum] = {}
        with tabs.add_tab('spectrum'):
            self._panels['spectrum'] = Spectrum(gui)
        with tabs.add_tab('A, B'):
            self._panels['matrices'] = HeatMap(gui, model)
        with tabs.add_tab('modes'):
            self._modes = ModePanel(gui, model, lambda: self._instant)
        with tabs.add_tab('node'):
            self._health = HealthPanel(gui)
        with tabs.add_tab('scene'):
            self._friction = gui.add_slider(
                'friction', min=0.05, max=1.5, step=0.05, initial_value=FRICTION
            )
            self._clear = gui.add_button('clear the trail')
        self._take(first)

    def run(self, is_over: Callable[[], bool]) -> None:
        """Show what the source says until it is over."""
        loop = self._server.get_event_loop()
        due = time.monotonic()
        while not is_over():
            asyncio.run_coroutine_threadsafe(self._frame(), loop).result()
            due = max(due + 1.0 / RATE, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))

    async def _frame(self) -> None:
        """Draw in the thread that sends: viser's queues bear no other while a client waits."""
        self.step()

    def step(self) -> None:
        """Draw one frame, and the panel that is due longest."""
        newest = self._source.newest()
        if self._source.model is not self._model:  # nothing of the one before stays
            self._server.gui.reset()
            self._server.scene.reset()
            self._fill(self._drawn())
        with self._server.atomic():
            if self._clear.value:
                self._clear.value = False
                self._scene.clear_trail()
            if newest is not None or self._friction.value != self._scene.friction:
                self._scene.friction = self._friction.value
                self._take(newest or self._instant)
            posture = self._modes.posture()
            if posture is not None:
                self._scene.pose(posture)
        self._show_panels()

    def _take(self, newest: Instant) -> None:
        self._instant = newest
        self._scene.show(newest)
        if newest.remark != self._remark.content:
            self._remark.content = newest.remark

    def _show_panels(self) -> None:
        """Show the first panel whose time has come: one a frame, so that none is late."""
        now, instant = time.monotonic(), self._instant
        for name, period in PERIODS.items():
            if now < self._due[name]:
                continue
            self._due[name] = now + period
            if name == 'modes':
                self._modes.follow()
                continue
            if name == 'health':
                health = self._source.health()
                if health is not None:
                    self._health.show(health)
                break
            if instant.A.size and self._shown.get(name) is not instant.A:
                self._shown[name] = instant.A
                self._panels[name].show(instant)
                break

    def close(self) -> None:
        """End server and source."""
        with _quiet():
            self._server.stop()
        self._source.close()


def _quiet() -> contextlib.AbstractContextManager[Any]:
    """Keep viser's own words off standard output."""
    return contextlib.redirect_stdout(io.StringIO())
