'use strict';
const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];
const filledFields = (form) => [...new FormData(form)].filter(([, value]) => value !== '');
const load = async (address, signal) =>
  new DOMParser().parseFromString(await (await fetch(address, { signal })).text(), 'text/html');

// The style sheet shows the hint about keys only if this attribute is set.
document.documentElement.dataset.script = '';

// Keys
const keys = {
  'j, k': 'next or previous row of a list',
  Enter: 'open the row',
  '/': 'go to the filter',
  'n, p': 'next or previous page of a list',
  Escape: 'leave the filter, or go to the page above',
  '?': 'show these keys',
};

function moveBy(step) {
  const rows = findAll('[data-open]');
  const row = document.activeElement?.closest('tr');
  const current = rows.findIndex((one) => one === document.activeElement || (row && one.closest('tr') === row));
  const next = current === -1 ? rows[0] : rows[current + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function showKeys() {
  let dialog = find('dialog#keys');
  if (dialog === null) {
    dialog = document.createElement('dialog');
    dialog.id = 'keys';
    dialog.setAttribute('aria-labelledby', 'keys-heading');
    const meanings = Object.entries(keys).map(
      ([key, meaning]) => '<dt><kbd>' + key + '</kbd></dt><dd>' + meaning + '</dd>',
    );
    dialog.innerHTML =
      '<h2 id="keys-heading">Keys</h2><dl>' +
      meanings.join('') +
      '</dl>' +
      '<form method="dialog"><button>Close</button></form>';
    document.body.append(dialog);
  }
  dialog.showModal();
}

function goToFilter() {
  const filter = find('[data-filter]');
  // On a narrow page the form may be folded.
  filter?.closest('details')?.setAttribute('open', '');
  filter?.select();
}

function leave() {
  const focused = document.activeElement;
  // A button of the closed dialog of keys may keep the focus.
  if (focused !== document.body && focused.closest('dialog') === null) focused.blur();
  else findAll('nav[aria-label="Breadcrumbs"] a').at(-1)?.click();
}

const actions = {
  j: () => moveBy(1),
  k: () => moveBy(-1),
  n: () => find('a[rel="next"]')?.click(),
  p: () => find('a[rel="prev"]')?.click(),
  '/': goToFilter,
  '?': showKeys,
  Escape: leave,
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || find('dialog[open]')) return;
  const fields = 'input:not([type="checkbox"], [type="radio"]), select, textarea';
  const isTyping = event.target instanceof Element && event.target.closest(fields) !== null;
  if (!Object.hasOwn(actions, event.key) || (isTyping && event.key !== 'Escape')) return;
  event.preventDefault();
  actions[event.key]();
});

// Lists that update as their filters change
async function showFiltered(form, signal) {
  const address = form.getAttribute('action') + '?' + new URLSearchParams(filledFields(form));
  const selector = '[data-result="' + form.dataset.live + '"]';
  const [here, there] = [find(selector), find(selector, await load(address, signal))];
  // An error has a page of its own.
  if (here === null || there === null) return location.assign(address);
  here.replaceWith(document.adoptNode(there));
  history.replaceState(null, '', address);
}

for (const form of findAll('form[data-live]')) {
  let timer;
  let running = new AbortController();
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running.abort();
      running = new AbortController();
      showFiltered(form, running.signal).catch((error) => error.name !== 'AbortError' && form.requestSubmit());
    }, 250);
  });
}

// The progress of a run: while visible, the page reloads itself and replaces the parts that changed.
const words = {
  live: 'Live: the page updates itself.',
  lost: 'No connection to the viewer: retrying. Reload the page if this does not end.',
  ended: 'The run has ended.',
};

function showProgress(page) {
  for (const part of findAll('[data-part]', page)) {
    const here = find('[data-part="' + part.dataset.part + '"]');
    if (here.innerHTML !== part.innerHTML)
      here.replaceChildren(...[...part.childNodes].map((node) => document.adoptNode(node)));
  }
}

async function watchRun(line) {
  for (;;) {
    if (!document.hidden) {
      const page = await load(location.href).catch(() => null);
      const state = page && find('[data-connection]', page);
      if (state) showProgress(page);
      line.dataset.state = state ? state.dataset.connection : 'lost';
      line.textContent = words[line.dataset.state];
      if (line.dataset.state === 'ended') return;
    }
    await new Promise((resolve) => setTimeout(resolve, 1500));
  }
}

const connection = find('[data-connection]');
if (connection !== null) watchRun(connection);

// The matrix of an export: the filters hide rows.
const armOf = (cell) => find('thead', cell.closest('table')).rows[0].cells[cell.cellIndex].textContent.trim();
const looks = { right: 'good', wrong: 'bad' };
const cellFilters = {
  arm: (cell, value) => armOf(cell) === value,
  answer: (cell, value) => cell.classList.contains(looks[value]),
  wrongClass: (cell, value) => cell.dataset.class === value,
  stage: (cell, value) => cell.dataset.stage === value,
  cache: (cell, value) => cell.dataset.cache === value,
  check: (cell, value) => cell.dataset.checks.split(',').includes(value),
  failed: (cell) => cell.classList.contains('error'),
};
const rowFilters = {
  wrong: (cells, value) => cells.some((cell) => armOf(cell) === value && cell.classList.contains('bad')),
  right: (cells, value) => cells.some((cell) => armOf(cell) === value && cell.classList.contains('good')),
  disagreeing: (cells) => ['good', 'bad'].every((look) => cells.some((cell) => cell.classList.contains(look))),
  text: (cells, value) => cells[0].closest('tr').textContent.toLowerCase().includes(value.toLowerCase()),
};

function passes(row, filters) {
  const cells = [...row.cells].filter(({ classList }) => classList.contains('o') && classList.length > 1);
  const ofCell = filters.filter(([name]) => name in cellFilters);
  return (
    (ofCell.length === 0 || cells.some((cell) => ofCell.every(([name, value]) => cellFilters[name](cell, value)))) &&
    filters.every(([name, value]) => rowFilters[name]?.(cells, value) ?? true)
  );
}

const matrix = find('form[data-static="matrix"]');
matrix?.addEventListener('input', () => {
  const rows = findAll('table.matrix tbody tr');
  const filters = filledFields(matrix);
  for (const row of rows) row.hidden = !passes(row, filters);
  const shown = rows.filter(({ hidden }) => !hidden).length;
  find('output', matrix).value = shown === rows.length ? 'all are shown' : shown + ' of ' + rows.length + ' are shown';
});
