// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
'use strict';

const spectrum = data.spectrum, timed = [];
let moment = 0;

function timeCurve(id, values, axes) {
  if (!spectrum.time.length || values.every((value) => value === null)) { $(id).closest('section').hidden = true; return; }
  chart(id, spectrum.time, [{ values }], { x: 'time [s]', mark: () => spectrum.time[moment], ...axes });
  timed.push(charts[id]);
}

function showTime(k) {
  moment = k;
  for (const one of timed) one.redraw(false);
  $('clock-text').textContent = `${short(spectrum.time[k])} s, fastest growth ${short(spectrum.largest[k])} 1/s`;
  const found = spectrum.real[k].map((real, mode) => [real, spectrum.imag[k][mode]]).filter(([real]) => real !== null).sort((a, b) => a[0] - b[0]);
  const dots = (name, stroke, holds) => ({ name, stroke, values: found.map(([real, imag]) => holds(real) ? imag : null) });
  chart('plane', found.map(([real]) => real), [dots('decays', color('--blue'), (real) => real <= 1e-3), dots('grows', color('--red'), (real) => real > 1e-3)], {
    x: 'growth, real part [1/s]', y: 'imaginary part [rad/s]', mark: () => 0, series: { paths: () => null, points: { show: true, size: 6, fill: (u, curve) => u.series[curve].stroke(u, curve) } },
  });
}

function showSpectrum() {
  timeCurve('growth', spectrum.largest, { y: 'fastest growth [1/s]' });
  timeCurve('damping', spectrum.damping, { y: 'least damping ratio [1]' });
  timeCurve('condition', spectrum.condition, { y: 'condition number [1]', logarithmic: true });
  if (!spectrum.time.length) return;
  const growth = spectrum.fastest;
  $('margins').textContent = !data.still
    ? 'Least damping ratio of a swinging mode over time. The robot moves: the eigenvalues say how fast neighbouring motions part at an instant, not whether it is stable.'
    : growth > 1e-3 ? `Least damping ratio of a swinging mode over time. The fastest growth, ${short(growth)} 1/s, doubles an error in ${short(Math.LN2 / growth)} s.`
    : `Least damping ratio of a swinging mode over time. No mode grows; the least damped has ${short(spectrum.median_damping)} in the median.`;
  $('condition-text').textContent = `Median ${short(spectrum.median_condition)}: the accelerations lose about ${short(Math.log10(spectrum.median_condition))} of 16 digits.`;
  $('clock').max = Math.max(0, spectrum.time.length - 1);
  $('clock').addEventListener('input', () => showTime(+$('clock').value));
  showTime(0);
}

// ---- heat maps

let instant = 0, matrix = 'A', cell = null;

function shade(value, largest) {
  if (value === null) return [128, 128, 128];
  const depth = value === 0 || largest === 0 ? 0 : Math.max(0.08, 1 + Math.log10(Math.abs(value) / largest) / 6);
  const zero = parse(color('--zero')), full = parse(color(value < 0 ? '--red' : '--blue'));
  return zero.map((z, k) => Math.round(z + (full[k] - z) * Math.min(1, Math.max(0, depth))));
}

const parse = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

function showHeat() {
  const canvas = $('heat'), values = data.instants[instant][matrix], rows = values.length, cols = values[0].length;
  const size = Math.max(4, Math.floor(720 / Math.max(rows, cols)));
  canvas.width = size * cols; canvas.height = size * rows; canvas.style.width = matrix === 'A' ? '' : `min(100%, ${size * cols}px)`;
  const pen = canvas.getContext('2d'), largest = Math.max(...values.flat().map((v) => Math.abs(v || 0)));
  values.forEach((row, i) => row.forEach((value, j) => {
    pen.fillStyle = `rgb(${shade(value, largest)})`;
    pen.fillRect(j * size, i * size, size, size);
  }));
  pen.strokeStyle = color('--soft');
  for (const k of [rows / 2]) { pen.strokeRect(0, 0, canvas.width, k * size); if (matrix === 'A') pen.strokeRect(0, 0, k * size, canvas.height); }
  cell = { size, values };
  $('instant-text').textContent = `${short(data.instants[instant].time)} s`;
  for (const button of $('matrix').children) button.classList.toggle('on', button.dataset.matrix === matrix);
}

function pointAt(event) {
  const canvas = $('heat'), box = canvas.getBoundingClientRect();
  const i = Math.floor((event.clientY - box.top) / box.height * cell.values.length);
  const j = Math.floor((event.clientX - box.left) / box.width * cell.values[0].length);
  const row = data.rows[i], col = (matrix === 'A' ? data.columns : data.inputs)[j];
  if (!row || !col) return;
  $('entry').textContent = `${row[0]} by ${col[0]}: ${short(cell.values[i][j])} (${row[1]}) / (${col[1]})`;
  const tip = $('tip');
  tip.textContent = `row ${i}: ${row[0]}\ncolumn ${j}: ${col[0]}\n${short(cell.values[i][j])} (${row[1]}) / (${col[1]})`;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - 260)}px`; tip.style.top = `${event.clientY + 14}px`;
  tip.hidden = false;
}

function showMatrices() {
  $('instant').max = data.instants.length - 1;
  $('instant').addEventListener('input', () => { instant = +$('instant').value; showHeat(); showModes(); });
  $('matrix').addEventListener('click', (event) => { if (event.target.dataset.matrix) { matrix = event.target.dataset.matrix; showHeat(); } });
  $('heat').addEventListener('mousemove', pointAt);
  $('heat').addEventListener('mouseleave', () => { $('tip').hidden = true; });
  showHeat();
}

// ---- modes

let mode = 0, turn = 0.7, tilt = 0.25, running = true, phase = 0, before = null;

function project(points, canvas, reach) {
  const scale = 0.42 * Math.min(canvas.width, canvas.height) / reach;
  return points.map(([x, y, z]) => {
    const a = Math.cos(turn) * x - Math.sin(turn) * y, b = Math.sin(turn) * x + Math.cos(turn) * y;
    return [canvas.width / 2 + scale * a, canvas.height / 2 - scale * (Math.cos(tilt) * z + Math.sin(tilt) * b)];
  });
}

function limbs(pen, points, style, width) {
  pen.strokeStyle = pen.fillStyle = style; pen.lineWidth = width; pen.lineCap = 'round';
  for (const [from, to] of data.edges) { pen.beginPath(); pen.moveTo(...points[from]); pen.lineTo(...points[to]); pen.stroke(); }
  for (const point of points) { pen.beginPath(); pen.arc(...point, width, 0, 7); pen.fill(); }
}

function drawFigure() {
  const canvas = $('figure'), pen = canvas.getContext('2d'), rest = data.instants[instant].pose;
  const reach = Math.max(0.1, ...rest.map((point) => Math.hypot(...point))) * 1.15;
  pen.clearRect(0, 0, canvas.width, canvas.height);
  limbs(pen, project(rest, canvas, reach), color('--line'), 2);
  const shown = data.instants[instant].modes[mode];
  if (!shown) return;
  const count = shown.frames.length, at = phase * count, k = Math.floor(at) % count, part = at - Math.floor(at);
  const next = shown.frames[(k + 1) % count];
  const points = shown.frames[k].map((point, i) => point.map((v, axis) => v + part * (next[i][axis] - v)));
  limbs(pen, project(points, canvas, reach), color(shown.kind === 'unstable' ? '--red' : '--blue'), 3.5);
}

function animate(now) {
  if (before !== null && running) phase = (phase + (now - before) / 2500) % 1;
  before = now;
  drawFigure();
  requestAnimationFrame(animate);
}

function describe(shown) {
  const pace = shown.imag > 1e-6 ? `swings at ${short(shown.imag)} rad/s, ` : '';
  const end = shown.real > 0 ? `doubles in ${short(Math.LN2 / shown.real)} s` : shown.real < 0 ? `halves in ${short(Math.LN2 / -shown.real)} s` : 'neither grows nor decays';
  return `${shown.kind}: ${short(shown.real)}${shown.imag > 0 ? ` + ${short(shown.imag)}i` : ''} 1/s, ${pace}${end}; mostly ${shown.strongest.join(', ')}`;
}

function showModes() {
  const found = data.instants[instant].modes;
  mode = Math.min(mode, Math.max(0, found.length - 1));
  $('modes').replaceChildren();
  found.forEach((shown, k) => element($('modes'), 'button', { 'data-mode': k, class: k === mode ? 'on' : '' }, `${k + 1} ${shown.kind}`));
  $('mode-text').textContent = found.length ? describe(found[mode]) : 'no slow or unstable mode at this instant';
}

function showFigure() {
  $('modes').addEventListener('click', (event) => { if (event.target.dataset.mode) { mode = +event.target.dataset.mode; showModes(); } });
  $('play').addEventListener('click', () => { running = !running; $('play').textContent = running ? 'pause' : 'play'; });
  $('figure').addEventListener('pointermove', (event) => { if (event.buttons) { turn += event.movementX * 0.01; tilt = Math.max(-1.5, Math.min(1.5, tilt + event.movementY * 0.01)); } });
  showModes();
  requestAnimationFrame(animate);
}

// ---- joints, base, contacts

function showTraces(section) {
  const { id } = section.querySelector('.chart'), groups = data.course.groups[section.dataset.group];
  if (!groups) { section.hidden = true; return; }
  const draw = (button) => {
    const quantity = button.dataset.quantity, { unit, names, values } = groups[quantity];
    for (const other of button.parentNode.children) other.classList.toggle('on', other === button);
    chart(id, data.course.time, names.map((name, k) => ({ name, values: values[k], stroke: hue(k, names.length) })), { x: 'time [s]', y: `${quantity} [${unit}]` });
  };
  for (const name of Object.keys(groups)) element(section.querySelector('.choice'), 'button', { 'data-quantity': name }, name).addEventListener('click', (event) => draw(event.target));
  draw(section.querySelector('button'));
}

function showContacts() {
  const { time, contacts } = data.course, row = (k) => contacts.length - k;
  if (!contacts.length) { $('timeline').closest('section').hidden = true; return; }
  chart('timeline', time, contacts.map(({ name, active }, k) => ({ name, values: active.map((on) => on ? row(k) : null) })), {
    x: 'time [s]', range: () => [0, contacts.length + 1], series: { paths: uPlot.paths.stepped({ align: 1 }), width: 12, cap: 'butt' },
    names: { size: 120, splits: () => contacts.map((_, k) => row(k)), values: () => contacts.map(({ name }) => name) },
  });
}

function showParameters() {
  for (const [name, value, isDefault] of data.parameters) {
    const row = element($(isDefault ? 'defaults' : 'changed').tBodies[0], 'tr');
    element(row, 'td', {}, name); element(element(row, 'td'), 'code', {}, value);
  }
  if (!$('changed').rows.length) element(element($('changed').tBodies[0], 'tr'), 'td', {}, 'all at their defaults');
}

// ---- residuals, drops, facts

function showResidual(k) {
  const shown = data.residuals[k];
  [...$('residuals').children].forEach((bar, i) => bar.classList.toggle('on', i === k));
  chart('course', shown.course.map((_, i) => i / (shown.course.length - 1 || 1) * data.duration), [{ values: shown.course }],
    { x: 'time [s]', y: `RMS of ${shown.name} [${shown.unit}]`, range: (_, low, high) => [0, 1.06 * high || 1] });
  $('residual-text').textContent = `${shown.name}: RMS ${short(shown.rms)} ${shown.unit}, predicted accelerations ${short(shown.predicted)} ${shown.unit}`;
}

function showResiduals() {
  const share = (found) => found.predicted ? found.rms / found.predicted : 0, largest = Math.max(1e-12, ...data.residuals.map(share));
  data.residuals.forEach((found, k) => {
    const bar = element($('residuals'), 'button', { class: 'residual', 'data-residual': k });
    element(bar, 'span', {}, found.name);
    element(bar, 'i', { style: `width:${100 * share(found) / largest}%` });
    element(bar, 'span', {}, `${short(100 * share(found))} %`);
    bar.addEventListener('click', () => showResidual(k));
  });
  showResidual(0);
}

function showFacts() {
  $('robot').textContent = data.robot;
  $('summary').textContent = `${data.bags.join(', ')} · ${data.form}, ${data.reference} reference, ${data.representation} twist · model ${data.hash}${data.complete ? '' : ' · unfinished'}`;
  facts([[data.samples, 'samples'], [`${short(data.duration)} s`, 'duration'], [data.joints, 'joints'], [`${short(data.mass)} kg`, 'mass'],
    ...(spectrum.time.length && data.still ? [[`${short(spectrum.fastest)} 1/s`, 'fastest growth']] : []),
    [Object.values(data.drops).reduce((a, b) => a + b, 0), 'inputs dropped']]);
  const drops = Object.entries(data.drops).map(([cause, count]) => [count, cause]);
  if (data.skipped) drops.push([data.skipped, 'left out to keep to max_rate']);
  fill($('drops'), drops.length ? drops : [[0, 'nothing']]);
}

showFacts();
showSpectrum();
showMatrices();
showFigure();
document.querySelectorAll('.traces').forEach(showTraces);
showContacts();
showParameters();
showResiduals();
