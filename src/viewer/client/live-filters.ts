const pauseMs = 250;

/** The address of a form of filters, without empty values. */
function addressOf(form: HTMLFormElement): string {
  const values = [...new FormData(form)].flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && value !== '' ? [[name, value]] : [],
  );
  return `${form.getAttribute('action') ?? ''}?${new URLSearchParams(values).toString()}`;
}

/** Replaces the list of the page by that of another address. */
async function show(name: string, address: string, signal: AbortSignal): Promise<void> {
  const response = await fetch(address, { signal });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const selector = `[data-result="${name}"]`;
  const [here, there] = [document.querySelector(selector), page.querySelector(selector)];
  if (here === null || there === null) {
    // An error has a page of its own.
    location.assign(address);
    return;
  }
  here.replaceWith(document.adoptNode(there));
  history.replaceState(null, '', address);
}

/** Updates lists while their filters change; without a script, the button does the same. */
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
