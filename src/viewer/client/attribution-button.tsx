import { render } from 'preact';
import { useState } from 'preact/hooks';
import { type AttributionNews, newsType } from '../attribution/attribution-news.ts';

type State = AttributionNews | { readonly state: 'idle' | 'asked' };

/** Yields the lines of a stream, each as soon as it is complete. */
async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const parts = rest.split('\n');
    rest = parts.pop() ?? '';
    yield* parts.filter((part) => part !== '');
    if (done) {
      if (rest !== '') yield rest;
      return;
    }
  }
}

/** Sends the form, and passes on each line of the response. */
async function compute(form: FormData, tell: (news: AttributionNews) => void): Promise<void> {
  const values = [...form].flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  const response = await fetch('/attribution', {
    method: 'POST',
    headers: { accept: newsType },
    body: new URLSearchParams(values),
  });
  if (!response.ok || response.body === null) throw new Error(`the server answered ${response.status}`);
  for await (const line of lines(response.body)) tell(JSON.parse(line) as AttributionNews);
}

function AttributionButton({ values }: { readonly values: FormData }) {
  const [news, setNews] = useState<State>({ state: 'idle' });
  const start = () => {
    setNews({ state: 'computing', done: 0, of: 0 });
    compute(values, (line) => {
      setNews(line);
      if (line.state === 'done') location.reload();
    }).catch((error: unknown) => {
      setNews({ state: 'failed', message: String(error), hint: 'is the viewer still running?' });
    });
  };
  switch (news.state) {
    case 'idle':
      return <button onClick={() => setNews({ state: 'asked' })}>Compute leave-one-out attribution</button>;
    case 'asked':
      return (
        <p>
          This loads the model, which takes memory and time. <button onClick={start}>Compute</button>{' '}
          <button onClick={() => setNews({ state: 'idle' })}>Cancel</button>
        </p>
      );
    case 'computing':
      return (
        <p role="status">
          <progress max={news.of === 0 ? undefined : news.of} value={news.of === 0 ? undefined : news.done} />{' '}
          {news.of === 0 ? 'Loading the model …' : `${news.done} of ${news.of}`}
        </p>
      );
    case 'done':
      return <p role="status">Stored; the page is loaded again.</p>;
    case 'failed':
      return (
        <p role="alert">
          <b class="bad">{news.message}</b> {news.hint} <button onClick={start}>Try again</button>
        </p>
      );
  }
}

/** Replaces the form, which works without a script, by a button that asks first and shows progress. */
export function mountAttribution(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-attribution]');
  if (form === null) return;
  const place = document.createElement('div');
  const values = new FormData(form);
  form.replaceWith(place);
  render(<AttributionButton values={values} />, place);
}
