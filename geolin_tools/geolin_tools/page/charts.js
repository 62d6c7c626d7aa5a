// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const short = (x) => x === null || x === undefined ? 'none' : x !== 0 && (Math.abs(x) >= 1e4 || Math.abs(x) < 1e-2) ? x.toExponential(2) : String(+x.toPrecision(4));
const hue = (k, count) => `hsl(${Math.round(360 * k / Math.max(count, 1))} 65% 50%)`;

function element(parent, name, attributes, text) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

function fill(table, rows) {
  table.tBodies[0].replaceChildren();
  for (const row of rows) {
    const line = element(table.tBodies[0], 'tr');
    for (const cell of row) element(line, 'td', {}, cell);
  }
}

function facts(entries) {
  for (const [value, name] of entries) {
    const item = element($('facts'), 'li');
    element(item, 'b', {}, value);
    element(item, 'span', {}, name);
  }
}

// ---- charts, by the id of the block they are in

const charts = {};
const known = (_, x) => x === null || x === undefined ? '--' : short(x);

function chart(id, xs, curves, axes) {
  const before = charts[id], grid = { stroke: color('--line'), width: 1 };
  const axis = (more) => ({ stroke: color('--soft'), grid, ticks: grid, values: (_, at) => at.map((tick) => tick === null ? '' : short(tick)), ...more });
  const shown = (name, k) => !before || before.series[k + 1]?.label !== name || before.series[k + 1].show;
  const line = (u, x) => {
    const at = Math.round(u.valToPos(x, 'x', true)), { left, top, width, height } = u.bbox;
    u.ctx.fillStyle = color('--red');
    if (at >= left && at <= left + width) u.ctx.fillRect(at, top, 2, height);
  };
  before?.destroy();
  charts[id] = new uPlot({
    width: $(id).clientWidth || 500,
    height: 240,
    legend: { show: curves.length > 1, isolate: true },
    cursor: { points: { show: !axes.series } },
    scales: {
      x: { time: false, range: (_, low, high) => axes.series?.paths ? uPlot.rangeNum(low, high, 0.1, true) : low < high ? [low, high] : [low - 1, low + 1] },
      y: { distr: axes.logarithmic ? 3 : 1, ...(axes.range && { range: axes.range }) },
    },
    axes: [axis({ label: axes.x }), axis({ label: axes.y, size: 74, ...axes.names })],
    series: [{ label: axes.x, value: known }, ...curves.map(({ name, values, stroke }, k) => ({
      label: name, stroke: stroke || color('--blue'), width: 1.5, show: shown(name, k), value: known, points: { show: false }, ...axes.series,
    }))],
    hooks: { draw: axes.mark ? [(u) => line(u, axes.mark())] : [] },
  }, [xs, ...curves.map(({ values }) => values)], $(id));
}

addEventListener('resize', () => { for (const [id, one] of Object.entries(charts)) one.setSize({ width: $(id).clientWidth, height: 240 }); });
