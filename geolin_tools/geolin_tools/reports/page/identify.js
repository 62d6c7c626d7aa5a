// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
'use strict';

const KINDS = ['measured', 'description', 'identified'], CERTAIN = 3;
const percent = (part) => part === null ? '' : `${short(100 * part)} %`;

function fill(table, rows) {
  table.tBodies[0].replaceChildren();
  for (const row of rows) {
    const line = element(table.tBodies[0], 'tr');
    for (const cell of row) element(line, 'td', {}, cell);
  }
}

function showEfforts() {
  const select = $('row'), measured = data.rows.filter((row) => row.values);
  for (const { name } of measured) element(select, 'option', { value: name }, name);
  const draw = () => {
    const { name, values } = measured.find((row) => row.name === select.value);
    const at = scales($('efforts'), data.time.filter((t) => t !== null), values.flat(), { x: 'time in the data kept aside [s]', y: `${name} [N m or N]` });
    $('legend').replaceChildren();
    KINDS.forEach((kind, k) => {
      element($('efforts'), 'path', { class: 'trace', 'data-name': kind, stroke: hue(k, KINDS.length), d: trace(at, data.time, values[k]) });
      element($('legend'), 'b', { style: `color:${hue(k, KINDS.length)}` }, kind);
    });
  };
  select.addEventListener('change', draw);
  draw();
}

function showChanges() {
  const sorted = [...data.changes].sort((a, b) => b.moved - a.moved);
  const draw = () => fill($('changes'), sorted.filter(({ moved }) => $('all').checked || moved > CERTAIN).map(
    ({ of, name, unit, before, after, deviation, moved, determined }) => [of, name, short(before), short(after), short(deviation), unit, short(moved), percent(determined)]));
  $('all').addEventListener('change', draw);
  draw();
}

function showCombinations() {
  const left = data.combinations.map((found) => found.left);
  $('rank').textContent = `${data.rank} of ${left.length} combinations are determined: less than 0.71 of their standard deviation before is left.`;
  curve($('spectrum'), left.map((_, k) => k + 1), left, { x: 'combination, best known first', y: 'part of the deviation left', logarithmic: true });
  fill($('combinations'), data.combinations.map(({ left, shares }, k) => [k + 1, short(left), shares.map(([name, part]) => `${name} ${percent(part)}`).join(', ')]));
}

$('robot').textContent = data.robot;
$('summary').textContent = `identified from ${data.recordings.join(', ')}`;
for (const [value, name] of [[data.samples, 'samples'], [`${short(data.cutoff)} Hz`, 'filter'], [`${short(1000 * data.delay)} ms`, 'delay of efforts taken out'], [`${data.rank} of ${data.combinations.length}`, 'combinations determined']]) {
  const item = element($('facts'), 'li'); element(item, 'b', {}, value); element(item, 'span', {}, name);
}
showEfforts();
fill($('left'), data.rows.filter((row) => row.values).map(({ name, effort, before, after }) => [name, short(effort), short(before), short(after), before ? short(after / before) : '']));
showChanges();
showCombinations();
