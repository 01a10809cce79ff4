'use strict';
// The lines of a program beside what each of them wastes, and what would mend it.
const programSource = (result, { results, counters, say, el, details }) => {
  if (!result.findings.length && !result.sources) return [];
  const index = results.indexOf(result);
  const rough = (value, unit) => say(Number(value.toPrecision(3)), unit);
  const savingOf = finding => {
    if (finding.saves_seconds === undefined) return '';
    const between = finding.saves_interval_seconds;
    const ends = between ? ` (${between.map(end => rough(end, 'second')).join(' to ')})` : '';
    return ` Saves about ${rough(finding.saves_seconds, 'second')}${ends}.`;
  };
  const causeOf = finding => finding.cause.replaceAll('_', ' ');
  const place = i => `source-${index}-${i}`;
  const findingOf = new Map(result.findings.map(finding => [finding.point, finding]));

  const value = (key, i) => {
    const side = counters.has(key) ? counters.get(key).sides[index] : {};
    const of = kind => side[kind] ? side[kind].values[i] : null;
    return of('measured') ?? of('predicted');
  };
  const text = (key, i) => {
    const parameter = result.parameters.find(p => p.key === key);
    return parameter && typeof parameter.values[i] === 'string' ? parameter.values[i] : '';
  };
  // What an instruction asked of memory: sectors of global memory, passes of shared memory.
  const costOf = i => {
    for (const kind of ['load', 'store', 'atomic', 'reduce']) {
      const executed = value(`${kind}_requests`, i), sectors = value(`${kind}_sectors`, i);
      if (executed !== null && sectors !== null)
        return { unit: 'sector', executed, of: sectors, wasted: Math.max(0, sectors - (value(`${kind}_ideal_sectors`, i) ?? sectors)) };
    }
    for (const kind of ['shared_load', 'shared_store', 'shared_atomic']) {
      const executed = value(`${kind}_requests`, i);
      if (executed !== null) return { unit: 'pass', executed, of: value(`${kind}_wavefronts`, i), wasted: value(`${kind}_conflicts`, i) };
    }
    return { unit: '', executed: null, of: null, wasted: null };
  };
  const costs = result.names.map((_, i) => costOf(i));
  const wasteOf = new Map();  // kernel and unit -> all that it wastes
  const keyOf = i => `${costs[i].unit} ${text('kernel', i)}`;
  costs.forEach((cost, i) => wasteOf.set(keyOf(i), (wasteOf.get(keyOf(i)) || 0) + (cost.wasted || 0)));
  const units = (count, unit) => count === null ? '–' : `${say(count)} ${unit === 'pass' ? (count === 1 ? 'pass' : 'passes') : count === 1 ? 'sector' : 'sectors'}`;

  const instructionOf = i => {
    const line = text('line', i), name = result.names[i];
    return line && name.startsWith(`${line} `) ? name.slice(line.length + 1) : name;
  };
  const cell = (name, label, ...children) => el('td', { class: name, ...(label ? { 'data-label': label } : {}) }, ...children);
  const rowOf = (i, ...before) => {
    const cost = costs[i], all = wasteOf.get(keyOf(i)), share = cost.wasted && all ? cost.wasted / all : 0, dull = share ? '' : 'none';
    const attributes = { id: place(i), class: 'counted', onclick: () => details(result, i), ...(share ? { style: `--heat: ${(.06 + .44 * share).toFixed(3)}` } : {}) };
    return el('tr', attributes, ...before, cell('instruction', '', el('button', {}, instructionOf(i)), el('small', {}, text('kernel', i))),
      cell('', 'executed', say(cost.executed)), cell('', 'each', units(cost.of === null || !cost.executed ? null : Number((cost.of / cost.executed).toPrecision(4)), cost.unit)),
      cell(dull, 'wasted', units(cost.wasted, cost.unit)), cell(dull, 'share of the kernel', cost.wasted === null ? '–' : say(Number(share.toPrecision(3)), 'ratio')));
  };
  const wide = (columns, name, ...children) => el('tr', { class: name }, el('td', { colspan: columns }, ...children));
  const mend = (i, columns) => {
    const finding = findingOf.get(result.names[i]);
    if (!finding) return [];
    return [wide(columns, 'finding', el('p', {}, el('b', {}, instructionOf(i), finding.cause ? `, ${causeOf(finding)}: ` : ': '), finding.text),
      el('p', {}, el('b', {}, 'Fix: '), finding.fix, savingOf(finding), ...(finding.like ? [' Drawn by ', el('code', {}, `coalprof explain ${finding.like}`), '.'] : [])))];
  };

  const sections = [...(result.sources || [])].sort((a, b) => (a.name === '') - (b.name === '')).map(source => {
    const hasText = source.why_not === undefined, columns = hasText ? 7 : 6;
    const points = new Map();  // line -> its points
    for (const [line, i] of source.points) points.set(line, [...(points.get(line) || []), i]);
    const body = el('tbody');
    if (hasText) {
      let next = 1;
      for (const [first, lines] of source.blocks) {
        if (first > next) body.append(wide(columns, 'fold', `${first - next === 1 ? 'line' : 'lines'} ${next}${first - next === 1 ? '' : ` to ${first - 1}`}`));
        lines.forEach((code, k) => {
          const line = first + k, of = points.get(line);
          const number = cell('no', '', String(line));
          if (!of) { body.append(el('tr', {}, number, el('td', { class: 'code', colspan: columns - 1 }, code))); return; }
          of.forEach((i, n) => body.append(rowOf(i, n === 0 ? number : cell('no again', ''), cell(n === 0 ? 'code' : 'code again', '', n === 0 ? code : ''))));
          for (const i of of) body.append(...mend(i, columns));
        });
        next = first + lines.length;
      }
    } else {
      for (const [line, of] of points) for (const i of of)
        body.append(rowOf(i, cell('no', '', line ? `${source.name}:${line}` : '')), ...mend(i, columns));
    }
    const heads = ['line', ...(hasText ? ['source'] : []), 'instruction and kernel', 'executed by warps', 'each asks for', 'wasted', 'of the kernel’s waste'];
    return [el('h3', {}, source.name || 'Instructions without a line'), el('p', { class: 'soft' }, hasText ? source.file : [source.file, source.why_not].filter(t => t).join(': ')),
      el('div', { class: 'source', tabindex: '0', role: 'region', 'aria-label': source.name || 'Instructions' },
        el('table', {}, el('thead', {}, el('tr', {}, ...heads.map(head => el('th', { scope: 'col' }, head)))), body))];
  }).flat();

  if (sections.length)
    sections.unshift(el('h2', {}, 'Source'), el('p', { class: 'soft' }, 'The stronger its colour, the larger a line’s share of what its kernel wastes. Wasted are sectors beyond the fewest that would serve as many lanes side by side; ' +
      'of shared memory, passes beyond those without bank conflicts, as the model has them.'));
  const known = new Map(result.names.map((name, i) => [name, i]));
  const list = result.findings.map(finding => {
    const i = known.get(finding.point), says = finding.cause ? `: ${causeOf(finding)}.` : '.';
    return el('li', {}, i !== undefined && result.sources ? el('a', { href: `#${place(i)}` }, finding.point) : finding.point,
      i !== undefined && text('kernel', i) ? ` in ${text('kernel', i)}` : '', says, savingOf(finding), ...(result.sources ? [] : [` ${finding.text} Fix: ${finding.fix}`]));
  });
  return [...(list.length ? [el('h2', {}, 'What wastes most'), el('ol', { class: 'findings' }, ...list)] : []), ...sections];
};
