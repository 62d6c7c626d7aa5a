// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const short = (x) => x === null || x === undefined ? 'none' : x !== 0 && (Math.abs(x) >= 1e4 || Math.abs(x) < 1e-2) ? x.toExponential(2) : String(+x.toPrecision(4));
const last = (list) => list[list.length - 1];

function element(parent, name, attributes, text) {
  const svg = parent.namespaceURI.endsWith('svg');
  const made = svg ? document.createElementNS(parent.namespaceURI, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

// ---- curves

function ticks(low, high) {
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough)), step = power * [1, 2, 5, 10].find((k) => k * power >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(+(k * step).toPrecision(12));
  return found;
}

function decades(low, high) {
  const found = (steps) => {
    const values = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) for (const k of steps) values.push(k * 10 ** power);
    return values.filter((value) => value >= low && value <= high);
  };
  return [[1], [1, 2, 5]].map(found).find((values) => values.length > 1) || ticks(low, high);
}

function bounds(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); }
  return low > high ? [0, 1] : [low, high];
}

function scales(svg, xs, ys, axes) {
  const box = { width: svg.clientWidth || 500, height: svg.clientHeight || 240, left: 74, right: 14, top: 10, bottom: 40 };
  const change = axes.logarithmic ? (v) => Math.log10(Math.max(v, 1e-300)) : (v) => v, back = axes.logarithmic ? (v) => 10 ** v : (v) => v;
  const [x0, x1] = bounds(xs), [a, b] = bounds(ys).map(change), pad = (b - a || Math.abs(a) || 1) * 0.06;
  const y0 = axes.zero ? 0 : a - pad, y1 = b + pad;
  const x = (v) => box.left + (v - x0) / (x1 - x0 || 1) * (box.width - box.left - box.right);
  const y = (v) => box.height - box.bottom - (change(v) - y0) / (y1 - y0) * (box.height - box.top - box.bottom);
  svg.replaceChildren();
  svg.setAttribute('viewBox', `0 0 ${box.width} ${box.height}`);
  for (const value of (axes.logarithmic ? decades : ticks)(back(y0), back(y1))) {
    element(svg, 'line', { class: 'axis', x1: box.left, x2: box.width - box.right, y1: y(value), y2: y(value) });
    element(svg, 'text', { class: 'tick', x: box.left - 6, y: y(value) + 4, 'text-anchor': 'end' }, short(value));
  }
  for (const when of x1 > x0 ? ticks(x0, x1) : [x0]) element(svg, 'text', { class: 'tick', x: x(when), y: box.height - box.bottom + 15, 'text-anchor': 'middle' }, short(when));
  const middle = (box.top + box.height - box.bottom) / 2;
  element(svg, 'text', { class: 'title', x: (box.left + box.width - box.right) / 2, y: box.height - 6, 'text-anchor': 'middle' }, axes.x);
  element(svg, 'text', { class: 'title', x: 12, y: middle, transform: `rotate(-90 12 ${middle})`, 'text-anchor': 'middle' }, axes.y);
  return { x, y, box };
}

function curve(svg, xs, ys, axes) {
  const at = scales(svg, xs, ys, axes);
  element(svg, 'path', { class: 'curve', d: trace(at, xs, ys) });
  return at;
}

function trace(at, xs, ys) {
  let path = '', pen = false;
  ys.forEach((value, k) => {
    if (value === null) { pen = false; return; }
    path += `${pen ? 'L' : 'M'}${at.x(xs[k]).toFixed(1)} ${at.y(value).toFixed(1)}`;
    pen = true;
  });
  return path;
}

const hue = (k, count) => `hsl(${Math.round(360 * k / Math.max(count, 1))} 65% 50%)`;
