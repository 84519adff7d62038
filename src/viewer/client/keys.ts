const keys: readonly (readonly [key: string, meaning: string])[] = [
  ['j, k', 'next or previous row of a list'],
  ['Enter', 'open the row'],
  ['/', 'go to the filter'],
  ['n, p', 'next or previous page of a list'],
  ['Escape', 'leave the filter, or go to the page above'],
  ['?', 'show these keys'],
];

const openers = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-open]')];

/** Moves the focus along the rows of the lists; from anywhere else, to the first row. */
function moveBy(step: 1 | -1): void {
  const rows = openers();
  const row = document.activeElement?.closest('tr') ?? undefined;
  const current = rows.findIndex(
    (opener) => opener === document.activeElement || (row !== undefined && opener.closest('tr') === row),
  );
  const next = current === -1 ? rows[0] : rows[current + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input:not([type="checkbox"], [type="radio"]), select, textarea') !== null
  );
}

function helpDialog(): HTMLDialogElement {
  const known = document.querySelector<HTMLDialogElement>('dialog#keys');
  if (known !== null) return known;
  const dialog = document.createElement('dialog');
  dialog.id = 'keys';
  const heading = document.createElement('h2');
  heading.textContent = 'Keys';
  heading.id = 'keys-heading';
  dialog.setAttribute('aria-labelledby', heading.id);
  const list = document.createElement('dl');
  for (const [key, meaning] of keys) {
    const term = document.createElement('dt');
    const name = document.createElement('kbd');
    name.textContent = key;
    term.append(name);
    const description = document.createElement('dd');
    description.textContent = meaning;
    list.append(term, description);
  }
  const form = document.createElement('form');
  form.method = 'dialog';
  const close = document.createElement('button');
  close.textContent = 'Close';
  form.append(close);
  dialog.append(heading, list, form);
  document.body.append(dialog);
  return dialog;
}

/** Leaves a field, or goes to the page above. */
function leave(): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement && activeElement !== document.body) {
    activeElement.blur();
    return;
  }
  const above = [...document.querySelectorAll<HTMLAnchorElement>('nav[aria-label="Breadcrumbs"] a')].at(-1);
  above?.click();
}

const follow = (selector: string): void => document.querySelector<HTMLElement>(selector)?.click();

const actions: Readonly<Record<string, () => void>> = {
  j: () => moveBy(1),
  k: () => moveBy(-1),
  n: () => follow('a[rel="next"]'),
  p: () => follow('a[rel="prev"]'),
  '/': () => {
    const field = document.querySelector<HTMLInputElement>('[data-filter]');
    field?.focus();
    field?.select();
  },
  '?': () => helpDialog().showModal(),
  Escape: leave,
};

/** Binds the keys. With a modifier, in a dialog or in a field, keys keep their usual meaning. */
export function listenForKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector('dialog[open]') !== null) return;
    if (isTyping(event.target) && event.key !== 'Escape') return;
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}
