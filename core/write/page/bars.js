'use strict';
// Points with names instead of numbers on the axis: a row for each, with a bar for each result and side.
const barChart = (counter, places, { results, caption, colorOf, say, el, details, isLog, mostBars }) => {
  const rows = new Map();  // name -> its places
  for (const place of [...places].sort((a, b) => results.indexOf(a.result) - results.indexOf(b.result) || a.i - b.i)) {
    const name = place.result.names[place.i];
    if (!rows.has(name)) rows.set(name, []);
    rows.get(name).push(place);
  }
  // Names of kernels are long, and launches differ at their ends.
  const label = ([name, [{ result, i }]]) => {
    const value = key => { const parameter = result.parameters.find(p => p.key === key); return parameter && parameter.values[i]; };
    if (result.parameter !== 'kernel' || !value('kernel')) return [el('span', {}, name)];
    const shape = ['grid', 'block', 'device'].filter(key => value(key)).map(key => `${key} ${value(key)}`).join(', ');
    return [el('span', {}, value('kernel')), el('small', {}, shape)];
  };
  const shown = [...rows].slice(0, mostBars), values = places.map(p => p.y).filter(y => y > 0);
  const most = values.reduce((a, y) => Math.max(a, y), 0), least = values.reduce((a, y) => Math.min(a, y), most) / 2;
  const share = y => !(y > 0) ? 0 : isLog ? Math.log(y / least) / Math.log(most / least) : y / most;
  const number = place => say(place.y, counter.unit, place.kind === 'predicted' && place.low !== null);
  const bar = place => {
    const mark = el('i', { class: place.kind, style: `width: calc((100% - 7rem) * ${share(place.y).toFixed(4)}); --own: ${colorOf(place.name)}` });
    return el('div', { class: 'bar', title: `${place.result.own}: ${place.kind} ${number(place)}`, onclick: () => details(place.result, place.i) },
      mark, number(place));
  };
  return el('figure', {}, caption(counter), el('div', { class: 'bars' }, ...shown.flatMap(row => [el('div', { class: 'of', title: row[0] }, ...label(row)), el('div', {}, ...row[1].map(bar))])),
    rows.size > mostBars ? el('p', { class: 'soft' }, `The first ${mostBars} of ${rows.size}.`) : '');
};
