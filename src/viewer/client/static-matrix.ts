/** A filter that one cell of a row must pass, by the name of its field. */
const ofCell: Readonly<Record<string, (cell: HTMLTableCellElement, value: string) => boolean>> = {
  arm: (cell, value) => armOf(cell) === value,
  answer: (cell, value) => cell.classList.contains(value === 'right' ? 'good' : 'bad'),
  wrongClass: (cell, value) => cell.dataset['class'] === value,
  stage: (cell, value) => cell.dataset['stage'] === value,
  cache: (cell, value) => cell.dataset['cache'] === value,
  check: (cell, value) => (cell.dataset['checks'] ?? '').split(',').includes(value),
  failed: (cell) => cell.classList.contains('error'),
};

const armOf = (cell: HTMLTableCellElement): string =>
  cell.closest('table')?.querySelectorAll('thead th')[cell.cellIndex]?.textContent.trim() ?? '';

/** True for a row that passes all filters: by one of its cells, and by those of the arms that are wrong and right in it. */
function passes(row: HTMLTableRowElement, filters: readonly (readonly [string, string])[]): boolean {
  const cells = [...row.cells].filter(({ classList }) => classList.contains('o') && classList.length > 1);
  const has = (arm: string, look: string): boolean =>
    cells.some((cell) => armOf(cell) === arm && cell.classList.contains(look));
  const cellFilters = filters.flatMap(([name, value]) => {
    const filter = ofCell[name];
    return filter === undefined ? [] : [(cell: HTMLTableCellElement) => filter(cell, value)];
  });
  return (
    (cellFilters.length === 0 || cells.some((cell) => cellFilters.every((filter) => filter(cell)))) &&
    filters.every(([name, value]) => {
      if (name === 'wrong') return has(value, 'bad');
      if (name === 'right') return has(value, 'good');
      if (name === 'disagreeing')
        return ['good', 'bad'].every((look) => cells.some(({ classList }) => classList.contains(look)));
      if (name === 'text') return row.textContent.toLowerCase().includes(value.toLowerCase());
      return true;
    })
  );
}

/** Filters the matrix of a page that no server answers: hides the rows that do not pass. */
export function filterStaticMatrix(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-static="matrix"]');
  const rows = [...document.querySelectorAll<HTMLTableRowElement>('table.matrix tbody tr')];
  form?.addEventListener('input', () => {
    const filters = [...new FormData(form)].flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' && value !== '' ? [[name, value]] : [],
    );
    for (const row of rows) row.hidden = !passes(row, filters);
    const shown = rows.filter(({ hidden }) => !hidden).length;
    const output = form.querySelector('output');
    if (output !== null)
      output.value = shown === rows.length ? 'all are shown' : `${shown} of ${rows.length} are shown`;
  });
}
