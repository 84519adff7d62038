const pauseMs = 250;

/** The address that a form of filters leads to; empty values are left out. */
function addressOf(form: HTMLFormElement): string {
  const values = [...new FormData(form)].flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && value !== '' ? [[name, value]] : [],
  );
  return `${form.getAttribute('action') ?? ''}?${new URLSearchParams(values).toString()}`;
}

/** Puts the list of another address in the place of the one that is shown. */
async function show(name: string, address: string, signal: AbortSignal): Promise<void> {
  const response = await fetch(address, { signal });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const selector = `[data-result="${name}"]`;
  const [here, there] = [document.querySelector(selector), page.querySelector(selector)];
  if (here === null || there === null) {
    // What went wrong has a page of its own.
    location.assign(address);
    return;
  }
  here.replaceWith(document.adoptNode(there));
  history.replaceState(null, '', address);
}

/** Lists follow their filters while these are changed; the button shows the same without a script. */
export function watchFilters(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-live]')) {
    let waiting: ReturnType<typeof setTimeout> | undefined;
    let running = new AbortController();
    form.addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        running.abort();
        running = new AbortController();
        show(form.dataset['live'] ?? '', addressOf(form), running.signal).catch((error: unknown) => {
          if (!(error instanceof DOMException && error.name === 'AbortError')) form.requestSubmit();
        });
      }, pauseMs);
    });
  }
}
