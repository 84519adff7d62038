(() => {
  const numberOf = (text) => parseFloat(text.replace('\u2212', '-').replace(/^[\u2713\u2717]\s*/, ''));
  const compare = (a, b) => {
    const [x, y] = [numberOf(a), numberOf(b)];
    if (Number.isNaN(x) && Number.isNaN(y)) return a.localeCompare(b);
    return Number.isNaN(x) ? 1 : Number.isNaN(y) ? -1 : x - y;
  };
  const textOf = (row, column) => row.cells[column].textContent.trim();
  for (const section of document.querySelectorAll('section.table')) {
    const tables = [...section.querySelectorAll('table')];
    const bodies = tables.map((table) => [...table.tBodies[0].rows]);
    const rows = bodies[0].map((_, index) => index);
    if (rows.length < 2) continue;
    const show = (order) => bodies.forEach((body, table) => {
      for (const row of order) tables[table].tBodies[0].append(body[row]);
    });
    const headings = tables.flatMap((table, at) => [...table.tHead.rows[0].cells].map((cell, column) => ({ cell, at, column })));
    for (const { cell, at, column } of headings) {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener('click', () => {
        const sorted = cell.getAttribute('aria-sort');
        const next = sorted === null ? 'descending' : sorted === 'descending' ? 'ascending' : null;
        for (const other of headings) other.cell.removeAttribute('aria-sort');
        if (next === null) return show(rows);
        cell.setAttribute('aria-sort', next);
        const sign = next === 'ascending' ? 1 : -1;
        show([...rows].sort((a, b) => {
          const [x, y] = [a, b].map((row) => textOf(bodies[at][row], column));
          const missing = [x, y].map((text) => text === '\u2013');
          return missing[0] !== missing[1] ? (missing[0] ? 1 : -1) : sign * compare(x, y) || a - b;
        }));
      });
    }
    if (rows.length < 4) continue;
    const label = document.createElement('label');
    const field = document.createElement('input');
    const status = document.createElement('output');
    field.type = 'search';
    label.className = 'filter';
    label.append('filter by ' + textOf(tables[0].tHead.rows[0], 0) + ' ', field, ' ', status);
    section.querySelector('.blocks').before(label);
    field.addEventListener('input', () => {
      const wanted = field.value.trim().toLowerCase();
      const hidden = rows.filter((row) => !textOf(bodies[0][row], 0).toLowerCase().includes(wanted));
      for (const body of bodies) body.forEach((row, index) => { row.hidden = hidden.includes(index); });
      status.value = wanted === '' ? '' : rows.length - hidden.length + ' of ' + rows.length + ' rows';
    });
  }
  // On a phone, tables and settings are folded to their headings, below the verdict.
  if (!matchMedia('(max-width: 40rem)').matches) return;
  for (const heading of document.querySelectorAll('section:not(.verdict) > .table > h3, details > .table > h3, #environment > h2, #settings > h2')) {
    const details = document.createElement('details');
    const summary = document.createElement('summary');
    heading.after(details);
    details.append(summary);
    while (details.nextSibling !== null) details.append(details.nextSibling);
    summary.append(heading);
  }
  const openTarget = () => {
    const target = document.getElementById(location.hash.slice(1));
    for (let fold = target?.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
    target?.querySelector(':scope > details')?.setAttribute('open', '');
    target?.scrollIntoView();
  };
  addEventListener('hashchange', openTarget);
  openTarget();
})();
