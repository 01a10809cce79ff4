'use strict';
// Draws the results that follow in <script type="application/json" class="result">. Text from them
// reaches the page as text only.
addEventListener('DOMContentLoaded', () => {
  const answers = [...document.querySelectorAll('.answer')];
  const results = [...document.querySelectorAll('script.result')].map(s => JSON.parse(s.textContent));
  const NS = 'http://www.w3.org/2000/svg';
  const H = 280, L = 62, R = 12, T = 10, B = 34;
  // Drawn as wide as there is room, so that text keeps its size on a small screen.
  const roomWide = () => Math.max(280, Math.min(560, document.documentElement.clientWidth - 48));
  let W = roomWide();

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
  const whole = new Intl.NumberFormat('en'), short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 });
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

  const mostBars = 40;

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
    const varying = result.parameters.filter(p => p.values.some(v => v !== p.values[0]));
    const numeric = varying.filter(p => p.values.every(v => typeof v === 'number'));
    // Names on the axis instead of numbers: the lines of a program.
    result.named = result.parameters.some(p => p.key === result.parameter && p.values.some(v => typeof v === 'string'));
    const along = numeric.find(p => p.key === result.parameter) || (result.named ? undefined : numeric[0]);
    result.along = along ? along.key : 'point';
    result.x = along ? along.values : result.names.map((_, i) => i);
    result.bars = !along && (result.named || result.count <= mostBars);
    // A parameter that follows from others does not distinguish points.
    const apart = list => new Set(result.names.map((_, i) => JSON.stringify(list.map(p => p.values[i])))).size;
    const others = varying.filter(p => p !== along).reduceRight((list, p, _, all) => {
      const rest = list.filter(q => q !== p);
      return rest.length && apart(rest) === apart(all) ? rest : list;
    }, varying.filter(p => p !== along));
    result.second = others.length === 1 && numeric.includes(others[0]) && new Set(others[0].values).size > 2 ? others[0] : null;
    const own = results.length > 1 ? result.own : '';
    result.series = result.names.map((_, i) => {
      if (!along || result.second) return own;
      const key = others.map(p => `${p.key}=${p.values[i]}`).join(' ');
      return own && key ? `${own}: ${key}` : own || key;
    });
  });
  const series = [...new Set(results.flatMap(r => r.series))];
  // Eight colours that everybody can distinguish, then as many as needed.
  const colorOf = name => {
    const i = series.indexOf(name);
    return i < 8 ? `var(--s${i})` : `hsl(${Math.round(i * 137.5) % 360} 60% ${[38, 55, 68][i % 3]}%)`;
  };

  const hasBands = series.length <= 6 && !results.every(result => result.bars);  // more of them hide each other

  const varies = counter => {
    const seen = new Set();
    for (const side of counter.sides)
      for (const kind of ['predicted', 'measured'])
        if (side[kind]) for (const v of side[kind].values) { if (v !== null) seen.add(v); if (seen.size > 1) return true; }
    return false;
  };
  const favourites = ['load_sectors_per_request', 'store_sectors_per_request', 'duration_seconds', 'bandwidth_bytes_per_second',
    'shared_load_conflict_degree', 'shared_store_conflict_degree', 'shared_load_wavefronts', 'constant_requests', 'dram_read_bytes', 'l2_read_sectors', 'load_sectors', 'store_sectors'];
  const rank = key => favourites.includes(key) ? favourites.indexOf(key) : favourites.length;
  const interesting = favourites.filter(key => counters.has(key) && varies(counters.get(key))).slice(0, 4);
  const known = favourites.filter(key => counters.has(key)).slice(0, 4);
  const chosen = new Set(interesting.length ? interesting : known.length ? known : [...counters.keys()].slice(0, 2));
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

  // Values that multiply (1, 2, 4, ... 64) are their own ticks, at most 12 of them. Else none.
  const multiplied = xs => {
    const low = xs[0], high = xs[xs.length - 1];
    if (!(low > 0) || high < 8 * low || xs.some((x, i) => i > 0 && x < xs[i - 1] * 1.25)) return null;
    const step = Math.ceil(xs.length / 12);
    return xs.filter((_, i) => i % step === 0);
  };
  const inOrder = values => [...new Set(values)].sort((a, b) => a - b);

  // Places in the plot for every number of a counter.
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

  // Places of the ideal sectors per request, beside the real ones.
  const idealOf = counter => {
    const [, kind] = /^(load|store|atomic|reduce)_sectors_per_request$/.exec(counter.key) || [];
    if (!kind || !counters.has(`${kind}_ideal_sectors`) || !counters.has(`${kind}_requests`)) return [];
    const places = results.flatMap((result, index) => {
      const of = key => counters.get(key).sides[index].predicted || counters.get(key).sides[index].measured;
      const [ideal, requests] = [of(`${kind}_ideal_sectors`), of(`${kind}_requests`)];
      return !ideal || !requests ? [] : result.x.map((x, i) => [x, ideal.values[i] === null ? NaN : ideal.values[i] / requests.values[i]]).filter(([, y]) => Number.isFinite(y));
    });
    return new Set(places.map(([, y]) => y.toPrecision(6))).size > 2 ? [] : places;  // too many widths
  };
  const caption = (counter, ...words) => el('figcaption', { title: counter.key }, counter.name, ...words, el('small', {}, counter.meaning));

  // From dark to light, readable without colours, too.
  const ramp = [[68, 1, 84], [65, 68, 135], [42, 120, 142], [34, 168, 132], [122, 209, 81], [253, 231, 37]];
  const heatColor = share => {
    const at = share * (ramp.length - 1), k = Math.min(Math.floor(at), ramp.length - 2);
    return `rgb(${ramp[k].map((c, i) => Math.round(c + (ramp[k + 1][i] - c) * (at - k))).join(' ')})`;
  };
  const heatMap = (counter, result, kinds, cells) => {
    const xs = inOrder(cells.map(p => p.x)), ys = inOrder(result.second.values);
    const column = new Map(xs.map((x, i) => [x, i])), row = new Map(ys.map((y, i) => [y, i]));
    const low = cells.reduce((a, p) => Math.min(a, p.y), Infinity), high = cells.reduce((a, p) => Math.max(a, p.y), -Infinity);
    const isRough = cells.some(p => p.kind === 'predicted' && p.low !== null), bottom = 66, w = (W - L - R) / xs.length, h = (H - T - bottom) / ys.length;
    const scale = isLog && low > 0 ? y => Math.log(y / low) / (Math.log(high / low) || 1) : y => (y - low) / (high - low || 1);
    const svg = sv('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `${counter.key} over ${result.along} and ${result.second.key}` });
    for (const p of cells) {
      const cell = sv('rect', { class: 'cell', x: L + column.get(p.x) * w, y: T + (ys.length - 1 - row.get(result.second.values[p.i])) * h, width: w, height: h, fill: heatColor(scale(p.y)) });
      cell.append(sv('title', {}, `${result.names[p.i]}\n${kinds}: ${say(p.y, counter.unit, isRough)}`));
      cell.addEventListener('click', () => details(result, p.i));
      svg.append(cell);
    }
    const every = (values, most) => values.map((v, i) => [v, i]).filter(([, i]) => i % Math.ceil(values.length / most) === 0);
    for (const [x, i] of every(xs, 12)) svg.append(sv('text', { x: L + (i + .5) * w, y: H - bottom + 14, 'text-anchor': 'middle' }, digits.format(x)));
    for (const [y, i] of every(ys, 10)) svg.append(sv('text', { x: L - 6, y: T + (ys.length - .5 - i) * h + 4, 'text-anchor': 'end' }, digits.format(y)));
    svg.append(sv('text', { x: W - R, y: H - bottom + 29, 'text-anchor': 'end' }, result.along), sv('text', { x: 4, y: H - bottom + 14 }, result.second.key));
    const steps = 40, wide = (W - L - R) / 2 / steps, from = L + (W - L - R) / 4;
    for (let i = 0; i < steps; ++i) svg.append(sv('rect', { class: 'cell', x: from + i * wide, y: H - 22, width: wide, height: 10, fill: heatColor((i + .5) / steps) }));
    svg.append(sv('text', { x: from - 6, y: H - 13, 'text-anchor': 'end' }, say(low, counter.unit, isRough)), sv('text', { x: from + steps * wide + 6, y: H - 13 }, say(high, counter.unit, isRough)));
    return el('figure', {}, caption(counter, `, ${kinds}${results.length > 1 ? `: ${result.own}` : ''}`), svg);
  };
  // One for each result, and one for each of predicted and measured where these differ.
  const heatMaps = (counter, places) => results.flatMap(result => {
    const of = kind => places.filter(p => p.kind === kind && p.result === result);
    const [predicted, measured] = [of('predicted'), of('measured')];
    const alike = predicted.length === measured.length && predicted.every((p, i) => p.y === measured[i].y);
    return [...(alike ? [] : [['predicted', predicted]]), [alike ? 'predicted and measured' : 'measured', measured]]
      .filter(([, cells]) => cells.length).map(([kinds, cells]) => heatMap(counter, result, kinds, cells));
  });

  const plot = counter => {
    const figure = el('figure', {}, caption(counter));
    const svg = sv('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `${counter.key} over ${results[0].along}` });
    figure.append(svg);
    let places = placesOf(counter);
    if (!places.length) return [figure];
    if (results[0].second) return heatMaps(counter, places);
    if (results.every(result => result.bars)) return [barChart(counter, places, { results, caption, colorOf, say, el, details, isLog, mostBars })];
    if (isLog) places = places.filter(p => p.y > 0);
    if (!places.length) { svg.append(sv('text', { x: L, y: H / 2 }, 'nothing above 0')); return [figure]; }
    const extreme = (f, pick) => places.reduce((a, p) => f(a, pick(p)), pick(places[0]));
    const x0 = extreme(Math.min, p => p.x), x1 = extreme(Math.max, p => p.x);
    let y0 = extreme(Math.min, p => p.low === null || !hasBands ? p.y : Math.min(p.low, p.y)), y1 = extreme(Math.max, p => p.high === null || !hasBands ? p.y : Math.max(p.high, p.y));
    if (isLog) y0 = Math.max(y0, y1 * 1e-12); else y0 = Math.min(0, y0);
    const steps = scales[counter.unit] || [], step = (counter.unit === 'ratio' ? steps[0] : steps.find(s => y1 >= s[0])) || [1, ''];
    const ticks = (isLog ? logTicks(y0, y1) : niceTicks(y0 / step[0], y1 / step[0], 5).map(t => t * step[0]));
    if (!isLog && ticks.length > 1 && ticks[ticks.length - 1] < y1) { ticks.push(ticks[ticks.length - 1] * 2 - ticks[ticks.length - 2]); y1 = ticks[ticks.length - 1]; }
    const factors = multiplied(inOrder(places.map(p => p.x)));
    const across = factors ? x => Math.log(x / x0) / Math.log(x1 / x0) : x => x1 > x0 ? (x - x0) / (x1 - x0) : .5;
    const X = x => L + across(x) * (W - L - R);
    const up = isLog ? y => Math.log(y / y0) / (Math.log(y1 / y0) || 1) : y => (y - y0) / (y1 - y0 || 1);
    const Y = y => H - B - up(y) * (H - T - B);
    for (const t of ticks) svg.append(sv('path', { class: 'grid', d: `M${L} ${Y(t)}H${W - R}` }),
      sv('text', { x: L - 6, y: Y(t) + 4, 'text-anchor': 'end' }, (Math.abs(t) < 1e5 ? digits : short).format(t / step[0])));
    for (const t of factors || niceTicks(x0, x1, 8).filter(t => Number.isInteger(t) || !results.every(r => r.x.every(Number.isInteger)))) if (t <= x1) svg.append(sv('text', { x: X(t), y: H - B + 14, 'text-anchor': X(t) > W - 2 * R ? 'end' : 'middle' }, (t < 1e5 ? digits : short).format(t)));
    svg.append(sv('text', { x: W - R, y: H - 4, 'text-anchor': 'end' }, results[0].along), sv('text', { x: 4, y: H - 4 }, step[1]));
    for (const kind of ['predicted', 'measured']) for (const name of series) {
      const line = places.filter(p => p.kind === kind && p.name === name).sort((a, b) => a.x - b.x);
      if (!line.length) continue;
      const banded = line.filter(p => p.low !== null && p.high !== null && (!isLog || p.low > 0));
      if (banded.length > 1 && hasBands) svg.append(sv('path', { class: 'band', style: `fill: ${colorOf(name)}`,
        d: 'M' + banded.map(p => `${X(p.x)} ${Y(p.low)}`).join('L') + 'L' + banded.reverse().map(p => `${X(p.x)} ${Y(p.high)}`).join('L') + 'Z' }));
      svg.append(sv('path', { class: `line ${kind}`, style: `stroke: ${colorOf(name)}; stroke-dashoffset: ${4.5 * series.indexOf(name)}`, d: 'M' + line.map(p => `${X(p.x).toFixed(1)} ${Y(p.y).toFixed(1)}`).join('L') }));
      if (line.length <= 150 && (kind === 'measured' || line.length === 1))
        for (const p of line) svg.append(sv('circle', { cx: X(p.x), cy: Y(p.y), r: 2.5, style: `fill: ${colorOf(name)}` }));
    }
    for (const [x, y] of idealOf(counter)) if (!isLog || y > 0)
      svg.append(sv('path', { class: 'ideal', d: `M${X(x) - 5} ${Y(y)}h10` }));
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
      tip.textContent = `${at.result.along === 'point' ? at.result.names[at.i] : `${at.result.along} ${at.x}`}\n` + here.map(p => `${p.kind}${p.name ? ' ' + p.name : ''}: ${say(p.y, counter.unit, p.kind === 'predicted' && p.low !== null)}` +
        (p.low !== null && p.high !== null ? ` (${say(Number(p.low.toPrecision(3)), counter.unit)} to ${say(Number(p.high.toPrecision(3)), counter.unit)})` : '')).join('\n');
      tip.hidden = false;
      const left = X(at.x) / W * svg.clientWidth;
      const beside = left < figure.clientWidth / 2 ? left + 24 : left - tip.offsetWidth - 8;  // not over the point
      tip.style.left = `${Math.max(0, Math.min(beside, figure.clientWidth - tip.offsetWidth - 8))}px`;
      tip.style.top = W < 500 ? '100%' : '3.5rem';
    });
    svg.addEventListener('pointerleave', () => { tip.hidden = true; cursor.removeAttribute('d'); });
    svg.addEventListener('click', event => { const p = nearest(event); details(p.result, p.i); });
    return [figure];
  };

  const drawing = (result, i) => {
    const finding = result.findings.find(one => one.warp && one.point === result.names[i]);
    if (finding) return drawnLine(finding.warp);
    const number = result.shape_of ? result.shape_of[i] : undefined;
    if (number === undefined || number < 0) return [];
    const index = Array.isArray(result.warp_of) ? result.warp_of[i] : result.warp_of;
    return result.shapes[number].flatMap(([label, width, runs]) => {
      const lanes = [];  // [lane, offset]
      for (let k = 0; k < runs.length; k += 4)
        for (let n = 0; n < runs[k + 1]; ++n) lanes.push([runs[k] + n, runs[k + 2] + n * runs[k + 3]]);
      return drawnLanes(`Warp ${index}, ${label}`, width, lanes);
    });
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
  // The sectors of a point beyond the fewest; null: not known.
  const excessOf = (index, i) => {
    let sum = 0, ideal = 0;
    for (const kind of ['load', 'store', 'atomic', 'reduce']) {
      const of = key => { const c = counters.get(`${kind}_${key}`), side = c && (c.sides[index].measured || c.sides[index].predicted); return side ? side.values[i] : null; };
      if (of('sectors') === null || of('ideal_sectors') === null) continue;
      sum += of('sectors'); ideal += of('ideal_sectors');
    }
    return ideal > 0 ? sum / ideal - 1 : null;
  };
  // The warps of the points that waste most and least, drawn.
  const extremes = result => {
    if (result.findings.length) return [];  // they are drawn beside their source
    const index = results.indexOf(result);
    const known = result.names.map((_, i) => [i, excessOf(index, i)]).filter(([i, excess]) => excess !== null && drawing(result, i).length);
    if (known.length === 1) return [el('figure', { class: 'alone' }, ...drawing(result, known[0][0]))];
    if (!known.length) return [];
    // For equal waste, the slowest and the fastest: bank conflicts waste no sectors.
    const time = counters.get('duration_seconds'), side = time && (time.sides[index].measured || time.sides[index].predicted);
    const later = (a, b) => a[1] - b[1] || (side ? side.values[a[0]] - side.values[b[0]] : 0);
    const [worst, best] = [known.reduce((most, one) => later(one, most) > 0 ? one : most), known.reduce((least, one) => later(one, least) < 0 ? one : least)];
    if (worst[1] === best[1]) return [];
    return [el('div', { class: 'plots' }, ...[['Worst', worst], ['Best', best]].map(([word, [i, excess]]) =>
      el('figure', {}, el('figcaption', {}, `${word}: ${result.names[i]}, ${excess > 0 ? `${say(Number(excess.toPrecision(3)), 'ratio')} more sectors than the ideal` : 'no sector wasted'}`), ...drawing(result, i))))];
  };

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

  const plots = el('div', { class: 'plots', id: 'charts' }), under = el('div', { id: 'points' });
  const draw = () => { plots.replaceChildren(...[...counters.keys()].filter(key => chosen.has(key)).sort((a, b) => rank(a) - rank(b)).flatMap(key => plot(counters.get(key)))); under.replaceChildren(table()); };
  const main = el('main');
  if (results.length > 1) main.append(el('h1', {}, `${results.length} results`));
  results.forEach(result => {
    main.append(el(results.length > 1 ? 'h2' : 'h1', {}, result.own), answers[results.indexOf(result)], ...extremes(result), ...(result.command ? [el('p', { class: 'soft' }, el('code', {}, result.command))] : []), ...result.facts.map(fact => el('p', { class: 'soft' }, fact)));
    if (result.warnings.length) main.append(el('details', { class: 'warnings', open: '' }, el('summary', {}, result.warnings.length === 1 ? '1 warning' : `${result.warnings.length} warnings`), ...result.warnings.slice(0, 50).map(w => el('p', { class: 'soft' }, w)),
      result.warnings.length > 50 ? el('p', { class: 'soft' }, `and ${result.warnings.length - 50} more`) : ''));
  });
  results.forEach(result => main.append(...programSource(result, { results, counters, say, el, details, drawnLine })));
  const count = el('span');
  const tell = () => { count.textContent = `${chosen.size} of ${counters.size}`; };
  tell();
  main.append(el('details', { class: 'choice', ...(W < 500 ? {} : { open: '' }) }, el('summary', {}, 'Counters shown: ', count), ...[...counters.values()].map(c => el('label', { title: c.meaning },
    el('input', { type: 'checkbox', ...(chosen.has(c.key) ? { checked: '' } : {}), onchange: e => { e.target.checked ? chosen.add(c.key) : chosen.delete(c.key); tell(); draw(); } }), ' ', c.name))),
    el('p', { class: 'view' }, el('label', {}, el('input', { type: 'checkbox', id: 'log', onchange: e => { isLog = e.target.checked; draw(); } }), ' Logarithmic scale'),
      el('span', { class: 'soft' }, 'A click on a point shows all of it.')));
  const has = side => [...counters.values()].some(c => c.sides.some(s => s[side]));
  const hasIntervals = hasBands && [...counters.values()].some(c => c.sides.some(s => s.predicted && s.predicted.low));
  const sides = [['predicted', hasIntervals ? 'predicted, estimates with their intervals' : 'predicted'], ['measured', hasBands ? 'measured, times with their quartiles' : 'measured']];
  main.append(el('div', { class: 'legend' }, ...series.filter(name => name).map(name => { const mark = el('i'); mark.style.background = colorOf(name); return el('span', {}, mark, name); }),
    ...(results[0].second ? [] : sides.filter(([side]) => has(side)).map(([side, text]) => el('span', {}, el('i', { class: side }), text))),
    ...(!results[0].second && !results.every(r => r.bars) && [...chosen].some(key => idealOf(counters.get(key)).length) ? [el('span', {}, el('i', { class: 'best' }), 'the fewest there can be')] : [])));
  main.append(plots, el('h2', {}, 'All points'), under, dialog);
  document.body.append(main);
  draw();
  addEventListener('resize', () => { if (W !== roomWide()) { W = roomWide(); draw(); } });
});
