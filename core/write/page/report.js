'use strict';
// Draws the results that follow in <script type="application/json" class="result">. Text from them
// reaches the page as text only.
addEventListener('DOMContentLoaded', () => {
  const results = [...document.querySelectorAll('script.result')].map(s => JSON.parse(s.textContent));
  const colors = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b8860b', '#56b4e9', '#8c6d31', '#7f7f7f'];
  const NS = 'http://www.w3.org/2000/svg';
  const W = 560, H = 280, L = 62, R = 12, T = 10, B = 34;

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
  const digits = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 });
  const say = (value, unit) => {
    if (value === null || value === undefined) return '–';
    const steps = scales[unit] || [];
    const step = unit === 'ratio' ? steps[0] : steps.find(s => Math.abs(value) >= s[0]);
    return step ? `${digits.format(value / step[0])} ${step[1]}` : digits.format(value);
  };

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
        counters.set(column.key, { key: column.key, unit: column.unit, meaning: column.meaning, sides: results.map(() => ({})) });
      const side = { values, low: column.low && unpack(column.low), high: column.high && unpack(column.high) };
      counters.get(column.key).sides[index][column.measured ? 'measured' : 'predicted'] = side;
    }
    for (const parameter of result.parameters) parameter.values = unpack(parameter.values);
    const varying = result.parameters.filter(p => p.values.some(v => v !== p.values[0]));
    const numeric = varying.filter(p => p.values.every(v => typeof v === 'number'));
    const along = numeric.find(p => p.key === result.parameter) || numeric[0];
    result.along = along ? along.key : 'point';
    result.x = along ? along.values : result.names.map((_, i) => i);
    const others = varying.filter(p => p !== along);
    result.second = others.length === 1 && numeric.includes(others[0]) && new Set(others[0].values).size > 8 ? others[0] : null;
    const own = results.length > 1 ? result.label : '';
    result.series = result.names.map((_, i) => {
      if (!along || result.second) return own;
      const key = others.map(p => `${p.key}=${p.values[i]}`).join(' ');
      return own && key ? `${own}: ${key}` : own || key;
    });
  });
  const series = [...new Set(results.flatMap(r => r.series))];
  const colorOf = name => colors[series.indexOf(name) % colors.length];

  const varies = counter => {
    const seen = new Set();
    for (const side of counter.sides)
      for (const kind of ['predicted', 'measured'])
        if (side[kind]) for (const v of side[kind].values) { if (v !== null) seen.add(v); if (seen.size > 1) return true; }
    return false;
  };
  const favourites = ['duration_seconds', 'bandwidth_bytes_per_second', 'load_sectors_per_request', 'store_sectors_per_request',
    'load_efficiency', 'shared_load_wavefronts', 'constant_requests', 'dram_read_bytes', 'l2_read_sectors', 'load_sectors', 'store_sectors'];
  const interesting = favourites.filter(key => counters.has(key) && varies(counters.get(key))).slice(0, 4);
  const chosen = new Set(interesting.length ? interesting : [...counters.keys()].slice(0, 2));
  let isLog = false;

  const niceTicks = (low, high, count) => {
    if (!(high > low)) high = low + (low > 0 ? low : 1);
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= rough * .999);
    const ticks = [];
    for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + step * 1e-9 && ticks.length < 20; t += step)
      ticks.push(Math.abs(t) < step * 1e-9 ? 0 : t);
    return ticks;
  };
  const logTicks = (low, high) => {
    const ticks = [];
    for (let p = Math.floor(Math.log10(low)); 10 ** p <= high * 1.001 && ticks.length < 20; ++p)
      for (const f of Math.log10(high / low) > 4 ? [1] : [1, 2, 5])
        if (f * 10 ** p >= low * .999 && f * 10 ** p <= high * 1.001) ticks.push(f * 10 ** p);
    return ticks;
  };

  // Every number of a counter as a place in its plot.
  const placesOf = counter => {
    const places = [];
    counter.sides.forEach((side, index) => {
      for (const kind of ['predicted', 'measured']) if (side[kind])
        side[kind].values.forEach((y, i) => {
          if (y === null) return;
          places.push({ result: results[index], i, kind, x: results[index].x[i], y, name: results[index].series[i],
            low: side[kind].low ? side[kind].low[i] : null, high: side[kind].high ? side[kind].high[i] : null });
        });
    });
    return places;
  };

  const heatMap = (counter, svg, places) => {
    const result = places[0].result, kind = places.some(p => p.kind === 'measured') ? 'measured' : 'predicted';
    const cells = places.filter(p => p.kind === kind && p.result === result);
    const xs = [...new Set(cells.map(p => p.x))].sort((a, b) => a - b);
    const ys = [...new Set(result.second.values)].sort((a, b) => a - b);
    const low = Math.min(...cells.map(p => p.y)), high = Math.max(...cells.map(p => p.y));
    const w = (W - L - R) / xs.length, h = (H - T - B) / ys.length;
    for (const p of cells) {
      const share = high > low ? (p.y - low) / (high - low) : .5;
      const cell = sv('rect', { x: L + xs.indexOf(p.x) * w, y: H - B - (ys.indexOf(result.second.values[p.i]) + 1) * h, width: w + .3, height: h + .3,
        fill: `hsl(${220 - 190 * share} 75% ${30 + 35 * share}%)` });
      cell.append(sv('title', {}, `${result.names[p.i]}\n${kind} ${say(p.y, counter.unit)}`));
      cell.addEventListener('click', () => details(result, p.i));
      svg.append(cell);
    }
    svg.append(sv('text', { x: L, y: H - 16 }, xs[0]), sv('text', { x: W - R, y: H - 16, 'text-anchor': 'end' }, xs[xs.length - 1]),
      sv('text', { x: L - 6, y: H - B, 'text-anchor': 'end' }, ys[0]), sv('text', { x: L - 6, y: T + 10, 'text-anchor': 'end' }, ys[ys.length - 1]),
      sv('text', { x: (L + W - R) / 2, y: H - 4, 'text-anchor': 'middle' },
        `${result.along} across, ${result.second.key} up; ${kind} ${say(low, counter.unit)} (blue) to ${say(high, counter.unit)} (orange)`));
  };

  const plot = counter => {
    const figure = el('figure', {}, el('figcaption', {}, counter.key, el('small', {}, counter.meaning)));
    const svg = sv('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `${counter.key} over ${results[0].along}` });
    figure.append(svg);
    let places = placesOf(counter);
    if (!places.length) return figure;
    if (results[0].second) { heatMap(counter, svg, places); return figure; }
    if (isLog) places = places.filter(p => p.y > 0);
    if (!places.length) { svg.append(sv('text', { x: L, y: H / 2 }, 'nothing above 0')); return figure; }
    const extreme = (f, pick) => places.reduce((a, p) => f(a, pick(p)), pick(places[0]));
    const x0 = extreme(Math.min, p => p.x), x1 = extreme(Math.max, p => p.x);
    let y0 = extreme(Math.min, p => p.low === null ? p.y : Math.min(p.low, p.y)), y1 = extreme(Math.max, p => p.high === null ? p.y : Math.max(p.high, p.y));
    if (isLog) y0 = Math.max(y0, y1 * 1e-12); else y0 = Math.min(0, y0);
    const steps = scales[counter.unit] || [], step = (counter.unit === 'ratio' ? steps[0] : steps.find(s => y1 >= s[0])) || [1, ''];
    const ticks = (isLog ? logTicks(y0, y1) : niceTicks(y0 / step[0], y1 / step[0], 5).map(t => t * step[0]));
    if (!isLog && ticks.length > 1 && ticks[ticks.length - 1] < y1) { ticks.push(ticks[ticks.length - 1] * 2 - ticks[ticks.length - 2]); y1 = ticks[ticks.length - 1]; }
    const X = x => L + (x1 > x0 ? (x - x0) / (x1 - x0) : .5) * (W - L - R);
    const up = isLog ? y => Math.log(y / y0) / (Math.log(y1 / y0) || 1) : y => (y - y0) / (y1 - y0 || 1);
    const Y = y => H - B - up(y) * (H - T - B);
    for (const t of ticks) svg.append(sv('path', { class: 'grid', d: `M${L} ${Y(t)}H${W - R}` }),
      sv('text', { x: L - 6, y: Y(t) + 4, 'text-anchor': 'end' }, digits.format(t / step[0])));
    for (const t of niceTicks(x0, x1, 8)) if (t <= x1) svg.append(sv('text', { x: X(t), y: H - B + 14, 'text-anchor': 'middle' }, digits.format(t)));
    svg.append(sv('text', { x: W - R, y: H - 4, 'text-anchor': 'end' }, results[0].along), sv('text', { x: 4, y: H - 4 }, step[1]));
    for (const kind of ['predicted', 'measured']) for (const name of series) {
      const line = places.filter(p => p.kind === kind && p.name === name).sort((a, b) => a.x - b.x);
      if (!line.length) continue;
      const banded = line.filter(p => p.low !== null && p.high !== null && (!isLog || p.low > 0));
      if (banded.length > 1) svg.append(sv('path', { class: 'band', fill: colorOf(name),
        d: 'M' + banded.map(p => `${X(p.x)} ${Y(p.low)}`).join('L') + 'L' + banded.reverse().map(p => `${X(p.x)} ${Y(p.high)}`).join('L') + 'Z' }));
      svg.append(sv('path', { class: `line ${kind}`, stroke: colorOf(name), d: 'M' + line.map(p => `${X(p.x).toFixed(1)} ${Y(p.y).toFixed(1)}`).join('L') }));
      if (line.length <= 150 && (kind === 'measured' || line.length === 1))
        for (const p of line) svg.append(sv('circle', { cx: X(p.x), cy: Y(p.y), r: 2.5, fill: colorOf(name) }));
    }
    const cursor = sv('path', { class: 'cursor' }), tip = el('div', { class: 'tip', hidden: '' });
    svg.append(cursor);
    figure.append(tip);
    const nearest = event => {
      const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * W;
      return places.reduce((best, p) => Math.abs(X(p.x) - x) < Math.abs(X(best.x) - x) ? p : best, places[0]);
    };
    svg.addEventListener('pointermove', event => {
      const at = nearest(event), here = places.filter(p => p.x === at.x).slice(0, 16);
      cursor.setAttribute('d', `M${X(at.x)} ${T}V${H - B}`);
      tip.textContent = `${at.result.along} ${at.x}\n` + here.map(p => `${p.kind}${p.name ? ' ' + p.name : ''}: ${say(p.y, counter.unit)}` +
        (p.low !== null && p.high !== null ? ` (${say(p.low, counter.unit)} to ${say(p.high, counter.unit)})` : '')).join('\n');
      tip.hidden = false;
      const left = X(at.x) / W * svg.clientWidth;
      tip.style.left = `${Math.max(0, Math.min(left + 12, figure.clientWidth - tip.offsetWidth - 8))}px`;
      tip.style.top = '3.5rem';
    });
    svg.addEventListener('pointerleave', () => { tip.hidden = true; cursor.removeAttribute('d'); });
    svg.addEventListener('click', event => { const p = nearest(event); details(p.result, p.i); });
    return figure;
  };

  // Where the lanes of one warp go: a row for each 128-byte line that it touches, its four sectors, and the lanes in them.
  const drawing = (result, i) => {
    const number = result.shape_of ? result.shape_of[i] : undefined;
    if (number === undefined || number < 0) return [];
    const index = Array.isArray(result.warp_of) ? result.warp_of[i] : result.warp_of;
    return result.shapes[number].flatMap(([label, width, runs]) => {
      const lanes = [];  // [lane, offset]
      for (let k = 0; k < runs.length; k += 4)
        for (let n = 0; n < runs[k + 1]; ++n) lanes.push([runs[k] + n, runs[k + 2] + n * runs[k + 3]]);
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
      const svg = sv('svg', { class: 'warp', viewBox: `0 0 ${W} ${shown.length * row + 4}`, role: 'img', 'aria-label': `${label}: the lanes of warp ${index}` });
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
      return [el('p', {}, `Warp ${index}, ${label}: ${lanes.length} lanes, ${sectors.size} ${sectors.size === 1 ? 'sector' : 'sectors'} in ${rows.size} ${rows.size === 1 ? 'line' : 'lines'}; ` +
        `${sectors.size * 32} bytes moved for ${distinct * width} bytes of different elements.` + (rows.size > most ? ` The first ${most} lines:` : '')), svg];
    });
  };

  const dialog = el('dialog', {});
  const details = (result, i) => {
    const rows = [...counters.values()].map(c => [c, c.sides[results.indexOf(result)]])
      .filter(([, side]) => side.predicted || side.measured)
      .map(([c, side]) => el('tr', {}, el('td', { title: c.meaning }, c.key),
        el('td', {}, say(side.predicted ? side.predicted.values[i] : null, c.unit)), el('td', {}, say(side.measured ? side.measured.values[i] : null, c.unit))));
    const warp = drawing(result, i);
    const words = result.explain ? `${result.explain} --at ${result.x[i]}` : '';
    dialog.replaceChildren(el('h2', {}, result.names[i]),
      ...warp, ...(words ? [el('p', { class: 'soft' }, warp.length ? 'In words: ' : 'Why: ', el('code', {}, words))] : []),
      el('div', { class: 'scroll' }, el('table', {}, el('thead', {}, el('tr', {}, el('th', {}, 'counter'), el('th', {}, 'predicted'), el('th', {}, 'measured'))), el('tbody', {}, ...rows))),
      el('p', {}, el('button', { onclick: () => dialog.close() }, 'Close')));
    dialog.showModal();
  };

  const table = () => {
    const columns = [...chosen].map(key => counters.get(key)).flatMap(c => ['predicted', 'measured']
      .filter(kind => c.sides.some(s => s[kind])).map(kind => ({ c, kind })));
    const rows = results.flatMap((result, index) => result.names.map((name, i) => ({
      result, i, name: results.length > 1 ? `${result.label}: ${name}` : name,
      values: columns.map(({ c, kind }) => c.sides[index][kind] ? c.sides[index][kind].values[i] : null) })));
    const body = el('tbody');
    const most = 2000;  // rows at a time: a browser is slow with more
    const fill = () => body.replaceChildren(...rows.slice(0, most).map(row => el('tr', { onclick: () => details(row.result, row.i) }, el('td', {}, row.name),
      ...row.values.map((v, k) => el('td', {}, say(v, columns[k].c.unit))))));
    let order = [-1, 1];
    const heads = [el('th', { scope: 'col' }), ...columns.map(() => el('th', { scope: 'col' }))];
    heads.forEach((head, k) => head.append(el('button', { onclick: () => {
      order = [k, order[0] === k ? -order[1] : 1];
      heads.forEach((h, j) => j === k ? h.setAttribute('aria-sort', order[1] > 0 ? 'ascending' : 'descending') : h.removeAttribute('aria-sort'));
      rows.sort((a, b) => {
        if (k === 0) return order[1] * a.name.localeCompare(b.name, 'en', { numeric: true });
        const [u, v] = [a.values[k - 1], b.values[k - 1]];
        return u === null ? 1 : v === null ? -1 : order[1] * (u - v);
      });
      fill();
    } }, k === 0 ? 'point' : `${columns[k - 1].c.key}${columns[k - 1].kind === 'measured' ? ', measured' : ''}`)));
    fill();
    return el('div', {}, el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'All points' },
      el('table', {}, el('caption', { hidden: '' }, 'All points'), el('thead', {}, el('tr', {}, ...heads)), body)),
      rows.length > most ? el('p', { class: 'soft' }, `The first ${most} of ${rows.length} rows, in this order.`) : '');
  };

  const plots = el('div', { class: 'plots' }), under = el('div');
  const draw = () => { plots.replaceChildren(...[...chosen].map(key => plot(counters.get(key)))); under.replaceChildren(table()); };
  const main = el('main');
  results.forEach(result => {
    main.append(el('h1', {}, result.label), ...result.facts.map(fact => el('p', { class: 'soft' }, fact)));
    if (result.warnings.length) main.append(el('details', {}, el('summary', {}, result.warnings.length === 1 ? '1 warning' : `${result.warnings.length} warnings`), ...result.warnings.map(w => el('p', { class: 'soft' }, w))));
  });
  main.append(el('fieldset', {}, el('legend', {}, 'Counters'), ...[...counters.values()].map(c => el('label', { title: c.meaning },
    el('input', { type: 'checkbox', ...(chosen.has(c.key) ? { checked: '' } : {}), onchange: e => { e.target.checked ? chosen.add(c.key) : chosen.delete(c.key); draw(); } }), ' ', c.key)),
    el('label', {}, el('input', { type: 'checkbox', id: 'log', onchange: e => { isLog = e.target.checked; draw(); } }), ' logarithmic')));
  const hasMeasured = [...counters.values()].some(c => c.sides.some(s => s.measured));
  main.append(el('div', { class: 'legend' }, ...series.filter(name => name).map(name => { const mark = el('i'); mark.style.background = colorOf(name); return el('span', {}, mark, name); }),
    el('span', {}, hasMeasured ? 'dashed: predicted, estimates with their intervals; solid: measured, times with their quartiles' : 'dashed: predicted, estimates with their intervals'), el('span', {}, 'a click shows all of a point')));
  main.append(plots, el('h2', {}, 'All points'), under, dialog);
  document.body.append(main);
  draw();
});
