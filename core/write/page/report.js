'use strict';
// Shows the results that follow in <script type="application/json" class="result"> beside the curves that C++
// drew. Text from them reaches the page as text only.
addEventListener('DOMContentLoaded', () => {
  const answers = [...document.querySelectorAll('.answer')];
  const results = [...document.querySelectorAll('script.result')].map(s => JSON.parse(s.textContent));
  const NS = 'http://www.w3.org/2000/svg';

  const el = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
      key.startsWith('on') ? node.addEventListener(key.slice(2), value) : node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const sv = (name, attributes = {}, text) => {
    const node = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };

  const scales = {
    'byte': [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']],
    'second': [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']],
    'byte/s': [[1e12, 'TB/s'], [1e9, 'GB/s'], [1e6, 'MB/s'], [1e3, 'kB/s']],
    'ratio': [[0.01, '%']],
  };
  const digits = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 }), three = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
  const whole = new Intl.NumberFormat('en');
  // An estimate has three digits and a mark.
  const say = (value, unit, isEstimate) => {
    if (value === null || value === undefined) return '–';
    if (isEstimate) {
      const step = unit === 'ratio' ? scales.ratio[0] : (scales[unit] || []).find(s => Math.abs(value) >= s[0]) || [1, ''];
      return `~${three.format(value / step[0])} ${step[1]}`.trim();
    }
    if (Number.isSafeInteger(value) && !scales[unit]) return whole.format(value);  // counts are exact
    const steps = scales[unit] || [];
    const step = unit === 'ratio' ? steps[0] : steps.find(s => Math.abs(value) >= s[0]);
    return step ? `${digits.format(value / step[0])} ${step[1]}` : digits.format(value);
  };

  // Results with the same description are numbered.
  results.forEach((result, index) => {
    const alike = results.filter(other => other.label === result.label);
    result.own = alike.length > 1 ? `${result.label} (${index + 1})` : result.label;
  });

  // Columns as they were packed: one number for all points, the same as predicted, or each.
  const counters = new Map();  // key -> {key, unit, meaning, sides: [per result: {p, m}]}
  results.forEach((result, index) => {
    result.count = result.names.length;
    const unpack = packed => Array.isArray(packed) ? packed : Array(result.count).fill(packed);
    const predicted = {};
    for (const column of result.columns) {
      const values = column.same ? predicted[column.key] : unpack(column.values);
      if (!column.measured) predicted[column.key] = values;
      if (!counters.has(column.key))
        counters.set(column.key, { key: column.key, name: column.name, unit: column.unit, meaning: column.meaning, sides: results.map(() => ({})) });
      const side = { values, low: column.low && unpack(column.low), high: column.high && unpack(column.high) };
      counters.get(column.key).sides[index][column.measured ? 'measured' : 'predicted'] = side;
    }
    for (const parameter of result.parameters) parameter.values = unpack(parameter.values);
  });
  const varies = counter => {
    const seen = new Set();
    for (const side of counter.sides)
      for (const kind of ['predicted', 'measured'])
        if (side[kind]) for (const v of side[kind].values) { if (v !== null) seen.add(v); if (seen.size > 1) return true; }
    return false;
  };
  const favourites = ['load_sectors_per_request', 'store_sectors_per_request', 'duration_seconds', 'bandwidth_bytes_per_second',
    'shared_load_conflict_degree', 'shared_store_conflict_degree', 'shared_load_wavefronts', 'constant_requests', 'dram_read_bytes', 'l2_read_sectors', 'load_sectors', 'store_sectors'];
  const interesting = favourites.filter(key => counters.has(key) && varies(counters.get(key))).slice(0, 4);
  const known = favourites.filter(key => counters.has(key)).slice(0, 4);
  const chosen = new Set(interesting.length ? interesting : known.length ? known : [...counters.keys()].slice(0, 2));

  const drawing = (result, i) => {
    const finding = result.findings.find(one => one.warp && one.point === result.names[i]);
    return finding ? drawnLine(finding.warp) : [];
  };
  // A line of a warps file: name, instruction, bytes of a lane, 32 addresses.
  const drawnLine = line => {
    const [, op, width, ...addresses] = line.split(' ');
    const lanes = addresses.flatMap((address, lane) => address === '-' ? [] : [[lane, Number(address)]]);
    const isOne = addresses.length === 32 && width > 0 && width <= 32 && lanes.every(([, offset]) => Number.isSafeInteger(offset));
    return isOne ? drawnLanes(`A warp that was seen, ${op.replace('_', ' ')}`, Number(width), lanes) : [];
  };
  // The lanes of one warp: a row for each 128-byte line that it touches, its four sectors, and the lanes in them.
  const drawnLanes = (label, width, lanes) => {
    const sectors = new Set(), rows = new Map();  // line -> its lanes
    for (const [lane, offset] of lanes) {
      for (let at = Math.floor(offset / 32); at * 32 < offset + width; ++at) sectors.add(at);
      for (let line = Math.floor(offset / 128); line * 128 < offset + width; ++line) {
        if (!rows.has(line)) rows.set(line, []);
        rows.get(line).push([lane, offset - line * 128]);
      }
    }
    const distinct = new Set(lanes.map(([, offset]) => offset)).size, most = 16, shown = [...rows.keys()].sort((a, b) => a - b).slice(0, most);
    const left = 62, scale = 3.8, row = 20;
    const svg = sv('svg', { class: 'warp', viewBox: `0 0 ${left + 128 * scale + 6} ${shown.length * row + 4}`, role: 'img', 'aria-label': `${label}: where its lanes go` });
    shown.forEach((line, y) => {
      svg.append(sv('text', { x: left - 6, y: y * row + 15, 'text-anchor': 'end' }, `+${line * 128}`));
      for (let s = 0; s < 4; ++s)
        svg.append(sv('rect', { class: sectors.has(line * 4 + s) ? 'sector moved' : 'sector', x: left + s * 32 * scale, y: y * row + 2, width: 32 * scale - 1, height: row - 4 }));
      for (const [lane, at] of rows.get(line)) {
        const from = Math.max(0, at), to = Math.min(128, at + width), wide = (to - from) * scale - .6;
        const box = sv('rect', { class: 'lane', x: left + from * scale, y: y * row + 5, width: wide, height: row - 10 });
        box.append(sv('title', {}, `lane ${lane}: byte ${line * 128 + at}`));
        svg.append(box);
        if (wide > 12) svg.append(sv('text', { class: 'number', x: left + from * scale + wide / 2, y: y * row + 14, 'text-anchor': 'middle' }, lane));
      }
    });
    return [el('p', {}, `${label}: ${lanes.length} lanes, ${sectors.size} ${sectors.size === 1 ? 'sector' : 'sectors'} in ${rows.size} ${rows.size === 1 ? 'line' : 'lines'}; ` +
      `${sectors.size * 32} bytes moved for ${distinct * width} bytes of different elements.` + (rows.size > most ? ` The first ${most} lines:` : '')), svg];
  };

  const isEstimate = (side, i) => Boolean(side && side.low && side.low[i] !== null);
  const dialog = el('dialog', {});
  const details = (result, i) => {
    const rows = [...counters.values()].map(c => [c, c.sides[results.indexOf(result)]])
      .filter(([, side]) => side.predicted || side.measured)
      .map(([c, side]) => el('tr', {}, el('td', { title: `${c.key}: ${c.meaning}` }, c.name),
        el('td', {}, say(side.predicted ? side.predicted.values[i] : null, c.unit, isEstimate(side.predicted, i))), el('td', {}, say(side.measured ? side.measured.values[i] : null, c.unit))));
    const warp = drawing(result, i);
    const at = result.parameters.find(p => p.key === result.parameter);
    const words = result.explain && at && typeof at.values[i] === 'number' ? `${result.explain} --at ${at.values[i]}` : '';
    dialog.replaceChildren(el('button', { class: 'close', onclick: () => dialog.close() }, 'Close'), el('h2', {}, result.names[i]),
      ...warp, ...(words ? [el('p', { class: 'soft' }, warp.length ? 'In words: ' : 'Why: ', el('code', {}, words))] : []),
      el('div', { class: 'scroll' }, el('table', {}, el('thead', {}, el('tr', {}, el('th', {}, 'counter'), el('th', {}, 'predicted'), el('th', {}, 'measured'))), el('tbody', {}, ...rows))));
    dialog.showModal();
  };

  const table = () => {
    const columns = [...chosen].map(key => counters.get(key)).flatMap(c => ['predicted', 'measured']
      .filter(kind => c.sides.some(s => s[kind])).map(kind => ({ c, kind })));
    const rows = results.flatMap((result, index) => result.names.map((name, i) => ({
      result, i, name: results.length > 1 ? `${result.own}: ${name}` : name,
      values: columns.map(({ c, kind }) => c.sides[index][kind] ? c.sides[index][kind].values[i] : null) })));
    const body = el('tbody');
    const most = 2000;  // rows at a time: a browser is slow with more
    const fill = () => body.replaceChildren(...rows.slice(0, most).map(row => el('tr', { onclick: () => details(row.result, row.i) }, el('td', {}, el('button', { title: row.name }, row.name)),
      ...row.values.map((v, k) => el('td', {}, say(v, columns[k].c.unit, columns[k].kind === 'predicted' && isEstimate(columns[k].c.sides[results.indexOf(row.result)].predicted, row.i)))))));
    let order = [-1, 1];
    const heads = [el('th', { scope: 'col' }), ...columns.map(() => el('th', { scope: 'col' }))];
    heads.forEach((head, k) => head.append(el('button', { onclick: () => {
      order = [k, order[0] === k ? -order[1] : 1];
      heads.forEach((h, j) => j === k ? h.setAttribute('aria-sort', order[1] > 0 ? 'ascending' : 'descending') : h.removeAttribute('aria-sort'));
      rows.sort((a, b) => {
        if (k === 0) return order[1] * a.name.localeCompare(b.name, 'en', { numeric: true });
        const [u, v] = [a.values[k - 1], b.values[k - 1]];
        return u === null || v === null ? (u === null) - (v === null) : order[1] * (u - v);
      });
      fill();
    } }, ...(k === 0 ? ['point'] : [columns[k - 1].c.name, el('small', {}, columns[k - 1].kind)]))));
    fill();
    return el('div', {}, el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'All points' },
      el('table', {}, el('caption', { hidden: '' }, 'All points'), el('thead', {}, el('tr', {}, ...heads)), body)),
      rows.length > most ? el('p', { class: 'soft' }, `The first ${most} of ${rows.length} rows, in this order.`) : '');
  };

  const under = el('div', { id: 'points' });
  const draw = () => under.replaceChildren(table());
  const main = el('main');
  if (results.length > 1) main.append(el('h1', {}, `${results.length} results`));
  results.forEach(result => {
    main.append(el(results.length > 1 ? 'h2' : 'h1', {}, result.own), answers[results.indexOf(result)], ...(result.command ? [el('p', { class: 'soft' }, el('code', {}, result.command))] : []), ...result.facts.map(fact => el('p', { class: 'soft' }, fact)));
    if (result.warnings.length) main.append(el('details', { class: 'warnings', open: '' }, el('summary', {}, result.warnings.length === 1 ? '1 warning' : `${result.warnings.length} warnings`), ...result.warnings.slice(0, 50).map(w => el('p', { class: 'soft' }, w)),
      result.warnings.length > 50 ? el('p', { class: 'soft' }, `and ${result.warnings.length - 50} more`) : ''));
  });
  results.forEach(result => main.append(...programSource(result, { results, counters, say, el, details, drawnLine })));
  const count = el('span');
  const tell = () => { count.textContent = `${chosen.size} of ${counters.size}`; };
  tell();
  main.append(el('details', { class: 'choice', ...(document.documentElement.clientWidth < 548 ? {} : { open: '' }) }, el('summary', {}, 'Counters shown: ', count), ...[...counters.values()].map(c => el('label', { title: c.meaning },
    el('input', { type: 'checkbox', ...(chosen.has(c.key) ? { checked: '' } : {}), onchange: e => { e.target.checked ? chosen.add(c.key) : chosen.delete(c.key); tell(); draw(); } }), ' ', c.name))),
    el('p', { class: 'soft' }, 'A click on a point shows all of it.'));
  main.insertBefore(document.getElementById('charts'), main.querySelector('.choice'));
  main.append(el('h2', {}, 'All points'), under, dialog);
  document.body.append(main);
  draw();
});
