type Connection = 'live' | 'lost' | 'ended';

const words: Readonly<Record<Connection, string>> = {
  live: 'Live: the page shows what is written.',
  lost: 'No connection to the viewer: trying again. Reload the page if it does not come back.',
  ended: 'The run goes on no more.',
};

/** Replaces those parts of the page that have changed, so that the others keep their focus and place. */
function show(data: string): void {
  const state = new DOMParser().parseFromString(data, 'text/html');
  for (const part of state.querySelectorAll<HTMLElement>('[data-part]')) {
    const here = document.querySelector(`[data-part="${part.dataset['part'] ?? ''}"]`);
    if (here === null || here.innerHTML === part.innerHTML) continue;
    here.replaceChildren(...[...part.childNodes].map((node) => document.adoptNode(node)));
  }
}

/** Shows a run as it goes on, while the page can be seen; without a script, the page is reloaded by hand. */
export function watchRun(): void {
  const line = document.querySelector<HTMLElement>('[data-events]');
  const address = line?.dataset['events'];
  if (line === null || address === undefined) return;
  const tell = (connection: Connection): void => {
    line.dataset['state'] = connection;
    line.textContent = words[connection];
  };
  let source: EventSource | undefined;
  const close = (): void => {
    source?.close();
    source = undefined;
  };
  const open = (): void => {
    if (source !== undefined || line.dataset['state'] === 'ended') return;
    source = new EventSource(address);
    source.addEventListener('open', () => tell('live'));
    source.addEventListener('error', () => tell('lost'));
    source.addEventListener('state', ({ data }: MessageEvent<string>) => show(data));
    source.addEventListener('end', ({ data }: MessageEvent<string>) => {
      show(data);
      tell('ended');
      close();
    });
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  open();
}
