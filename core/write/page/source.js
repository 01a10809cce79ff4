'use strict';
// The lines of a program with the waste of each, and the fix.
const programSource = (result, { results, counters, say, el, details, drawnLine }) => {
  if (!result.findings.length && !result.sources) return [];
  const index = results.indexOf(result);
  const rough = (value, unit) => say(Number(value.toPrecision(3)), unit);
  const savingOf = finding => {
    if (finding.saves_seconds === null) return '';
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
  // The cost of an instruction: sectors of global memory, passes of shared memory.
  const costOf = i => {
    for (const kind of ['load', 'store', 'atomic', 'reduce']) {
      const executed = value(`${kind}_requests`, i), sectors = value(`${kind}_sectors`, i);
      if (executed !== null && sectors !== null)
        return { unit: 'sector', executed, of: sectors, ideal: value(`${kind}_ideal_sectors`, i), wasted: Math.max(0, sectors - (value(`${kind}_ideal_sectors`, i) ?? sectors)) };
    }
    for (const kind of ['shared_load', 'shared_store', 'shared_atomic']) {
      const executed = value(`${kind}_requests`, i);
      if (executed !== null) return { unit: 'pass', executed, of: value(`${kind}_wavefronts`, i), wasted: value(`${kind}_conflicts`, i) };
    }
    return { unit: '', executed: null, of: null, wasted: null };
  };
  const costs = result.names.map((_, i) => costOf(i));
  const isWhole = i => text('line', i) === 'all';  // a kernel, listed beside its lines
  const indexOf = new Map(result.names.map((name, i) => [name, i]));
  const secondsOf = new Map(result.names.flatMap((_, i) => isWhole(i) ? [[text('kernel', i), value('duration_seconds', i)]] : []));
  // Seconds that each line costs, one ranking for the whole page: where the model knows them, its share of the kernel's time;
  // else its share, by waste, of what the fix of its finding saves.
  const seconds = result.names.map((_, i) => {
    const share = value('cost_share', i), kernel = secondsOf.get(text('kernel', i));
    return share === null || !kernel ? null : share * kernel;
  });
  const isPredicted = seconds.some(one => one !== null);
  if (!isPredicted)
    for (const finding of result.findings.filter(one => one.saves_seconds !== null)) {
      const lines = [finding.point, ...(finding.other_points || [])].map(name => indexOf.get(name)).filter(i => i !== undefined);
      const wasted = lines.reduce((sum, i) => sum + (costs[i].wasted || 0), 0);
      for (const i of lines) seconds[i] = (seconds[i] || 0) + (wasted ? finding.saves_seconds * (costs[i].wasted || 0) / wasted : 0);
    }
  const hasTimes = seconds.some(one => one > 0);
  const costAt = i => (hasTimes ? seconds[i] : isWhole(i) ? 0 : costs[i].wasted) || 0;
  const most = result.names.reduce((a, _, i) => Math.max(a, costAt(i)), 0);
  const isHarmless = i => costs[i].wasted === 0 && !findingOf.has(result.names[i]);
  const units = (count, unit) => count === null ? '–' : `${say(count)} ${unit === 'pass' ? (count === 1 ? 'pass' : 'passes') : count === 1 ? 'sector' : 'sectors'}`;

  const instructionOf = i => {
    const line = text('line', i), name = result.names[i];
    return line && name.startsWith(`${line} `) ? name.slice(line.length + 1) : name;
  };
  const cell = (name, label, ...children) => el('td', { class: name, ...(label ? { 'data-label': label } : {}) }, ...children);
  const rowOf = (i, ...before) => {
    const cost = costs[i], dull = cost.wasted ? '' : 'none';
    const heat = most > 0 ? costAt(i) / most : 0, each = count => units(count === null || !cost.executed ? null : Number((count / cost.executed).toPrecision(3)), cost.unit);
    const attributes = { id: place(i), class: isHarmless(i) ? 'counted harmless' : 'counted', onclick: () => details(result, i), ...(heat ? { style: `--heat: ${(.06 + .44 * heat).toFixed(3)}` } : {}) };
    return el('tr', attributes, ...before, cell('instruction', '', el('button', {}, instructionOf(i)), el('small', {}, text('kernel', i))),
      cell('', 'executed', say(cost.executed)), cell('', 'each', each(cost.of), ...(cost.ideal === null || cost.ideal === undefined || !cost.executed ? [] : [el('small', {}, ` ideal ${say(Number((cost.ideal / cost.executed).toPrecision(3)))}`)])),
      cell(dull, 'wasted', units(cost.wasted, cost.unit)), cell(costAt(i) ? '' : 'none', 'costs', hasTimes && (seconds[i] !== null || cost.wasted === 0) ? rough(seconds[i] || 0, 'second') : '–'));
  };
  const wide = (columns, name, ...children) => el('tr', { class: name }, el('td', { colspan: columns }, ...children));
  const mend = (i, columns) => {
    const finding = findingOf.get(result.names[i]);
    if (!finding) return [];
    const drawn = finding.warp ? drawnLine(finding.warp) : [];
    const costliest = result.findings[0] === finding;
    return [wide(columns, 'finding', el('p', {}, el('b', {}, instructionOf(i), finding.cause ? `, ${causeOf(finding)}: ` : ': '), finding.text),
      el('p', {}, el('b', {}, 'Fix: '), finding.fix, savingOf(finding), ...(finding.drawn_by ? [' Drawn by ', el('code', {}, finding.drawn_by), '.'] : [])),
      ...(drawn.length ? [el('details', costliest ? { open: '' } : {}, el('summary', {}, 'Where the lanes of a warp go'), ...drawn)] : []))];
  };

  const costIn = source => source.points.reduce((sum, [, i]) => sum + costAt(i), 0);
  let sortsByCost = false;
  const fillers = [];  // of the tables, one for each file
  const fill = () => fillers.forEach(one => one());
  const sections = [...(result.sources || [])].sort((a, b) => (a.name === '') - (b.name === '') || costIn(b) - costIn(a)).map(source => {
    const hasText = source.why_not === undefined, columns = hasText ? 7 : 6;
    const points = new Map();  // line -> its points
    for (const [line, i] of source.points) points.set(line, [...(points.get(line) || []), i]);
    const body = el('tbody'), text = new Map();
    for (const [first, lines] of source.blocks || []) lines.forEach((code, k) => text.set(first + k, code));
    const byLine = () => {
      let next = 1;
      for (const [first, lines] of source.blocks) {
        if (first > next) body.append(wide(columns, 'fold', `${first - next === 1 ? 'line' : 'lines'} ${next}${first - next === 1 ? '' : ` to ${first - 1}`}`));
        lines.forEach((code, k) => {
          const line = first + k, of = points.get(line);
          const number = cell('no', '', String(line));
          if (!of) { body.append(el('tr', {}, number, el('td', { class: 'code', colspan: columns - 1 }, code))); return; }
          of.sort((a, b) => isHarmless(a) - isHarmless(b) || costAt(b) - costAt(a));
          if (isHarmless(of[0])) body.append(el('tr', { class: 'folded' }, number.cloneNode(true), el('td', { class: 'code', colspan: columns - 1 }, code)));
          of.forEach((i, n) => body.append(rowOf(i, n === 0 ? number : cell('no again', ''), cell(n === 0 ? 'code' : 'code again', '', n === 0 ? code : ''))));
          for (const i of of) body.append(...mend(i, columns));
        });
        next = first + lines.length;
      }
    };
    const byCost = () => {
      for (const [line, i] of [...source.points].sort(([, a], [, b]) => costAt(b) - costAt(a)))
        body.append(rowOf(i, cell(hasText ? 'no' : 'no named', '', !line ? '' : hasText ? String(line) : `${source.name}:${line}`), ...(hasText ? [cell('code', '', text.get(line) || '')] : [])), ...mend(i, columns));
    };
    fillers.push(() => { body.replaceChildren(); hasText && !sortsByCost ? byLine() : byCost(); });
    const heads = ['line', ...(hasText ? ['source'] : []), 'instruction and kernel', 'executed by warps', 'each asks for', 'wasted', 'costs'];
    return [el('h3', {}, source.name || 'Instructions without a line'), el('p', { class: 'soft' }, hasText ? source.file : [source.file, source.why_not].filter(t => t).join(': ')),
      el('div', { class: 'source', tabindex: '0', role: 'region', 'aria-label': source.name || 'Instructions' },
        el('table', {}, el('thead', {}, el('tr', {}, ...heads.map(head => el('th', { scope: 'col' }, head)))), body))];
  }).flat();

  const harmless = result.names.filter((_, i) => isHarmless(i) && !isWhole(i)).length;
  const showAll = el('input', { type: 'checkbox', onchange: event => document.body.classList.toggle('all-lines', event.target.checked) });
  fill();
  const sorted = el('input', { type: 'checkbox', class: 'by-cost', onchange: event => { sortsByCost = event.target.checked; fill(); } });
  const hasOrder = (result.sources || []).some(source => source.why_not === undefined);
  if (sections.length)
    sections.unshift(el('h2', {}, 'Source'), el('p', { class: 'view' }, ...(hasOrder ? [el('label', {}, sorted, ' Costliest instructions first')] : []),
      ...(harmless ? [el('label', {}, showAll, ` Show ${harmless === 1 ? 'the instruction that wastes' : `${harmless} instructions that waste`} nothing, too`)] : [])),
      el('p', { class: 'soft' }, `Colour: ${isPredicted ? 'time that the line costs' : hasTimes ? 'time saved by fixing the line' : 'what the line wastes'}. ` +
      'Wasted sectors: those above the fewest possible. Wasted passes of shared memory: predicted bank conflicts.'));
  const list = result.findings.map(finding => {
    const i = indexOf.get(finding.point), says = finding.cause ? `: ${causeOf(finding)}.` : '.';
    return el('li', {}, i !== undefined && result.sources ? el('a', { href: `#${place(i)}` }, finding.point) : finding.point, finding.also ? `, also ${finding.also}` : '',
      i !== undefined && text('kernel', i) ? ` in ${text('kernel', i)}` : '', says, savingOf(finding), ...(result.sources ? [] : [` ${finding.text} Fix: ${finding.fix}`]));
  });
  return [...(list.length ? [el('h2', {}, 'What wastes most'), el('ol', { class: 'findings' }, ...list)] : []), ...sections];
};
