// SPDX-FileCopyrightText: 2026 geolin_ros contributors
// SPDX-License-Identifier: Apache-2.0
'use strict';

const KINDS = ['measured', 'description', 'identified'], CERTAIN = 3;
const percent = (part) => part === null ? '' : `${short(100 * part)} %`;

function showEfforts() {
  const select = $('row'), measured = data.rows.filter((row) => row.values);
  for (const { name } of measured) element(select, 'option', { value: name }, name);
  const draw = () => {
    const { name, values } = measured.find((row) => row.name === select.value);
    chart('efforts', data.time.map((time, k) => time ?? data.time[k - 1]), KINDS.map((kind, k) => ({ name: kind, values: values[k], stroke: hue(k, KINDS.length) })),
      { x: 'time in the data kept aside [s]', y: `${name} [N m or N]` });
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
  const { left } = data;
  $('rank').textContent = `${data.rank} of ${left.length} combinations are determined: less than 0.71 of their standard deviation before is left.`;
  chart('spectrum', left.map((_, k) => k + 1), [{ values: left }], { x: 'combination, best known first', y: 'part of the deviation left', logarithmic: true });
}

$('robot').textContent = data.robot;
$('summary').textContent = `identified from ${data.recordings.join(', ')}`;
facts([[data.samples, 'samples'], [`${short(data.cutoff)} Hz`, 'filter'], [`${short(1000 * data.delay)} ms`, 'delay of efforts taken out'], [`${data.rank} of ${data.left.length}`, 'combinations determined']]);
showEfforts();
fill($('left'), data.rows.filter((row) => row.values).map(({ name, effort, before, after }) => [name, short(effort), short(before), short(after), before ? short(after / before) : '']));
showChanges();
showCombinations();
