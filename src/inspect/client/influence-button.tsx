import { render } from 'preact';
import { useState } from 'preact/hooks';
import { type InfluenceNews, newsType } from '../influence/influence-news.ts';
import { lines } from './lines.ts';

type State = InfluenceNews | { readonly state: 'idle' | 'asked' };

/** Asks the server, and tells of each of its lines. */
async function compute(form: FormData, tell: (news: InfluenceNews) => void): Promise<void> {
  const values = [...form].flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  const response = await fetch('/influence', {
    method: 'POST',
    headers: { accept: newsType },
    body: new URLSearchParams(values),
  });
  if (!response.ok || response.body === null) throw new Error(`the server answered ${response.status}`);
  for await (const line of lines(response.body)) tell(JSON.parse(line) as InfluenceNews);
}

function InfluenceButton({ values }: { readonly values: FormData }) {
  const [news, setNews] = useState<State>({ state: 'idle' });
  const start = () => {
    setNews({ state: 'computing', done: 0, of: 0 });
    compute(values, (told) => {
      setNews(told);
      if (told.state === 'done') location.reload();
    }).catch((error: unknown) => {
      setNews({ state: 'failed', message: String(error), hint: 'is the viewer still running?' });
    });
  };
  switch (news.state) {
    case 'idle':
      return <button onClick={() => setNews({ state: 'asked' })}>Compute the influence of each memory</button>;
    case 'asked':
      return (
        <p>
          This loads the model, which takes memory and time. <button onClick={start}>Compute</button>{' '}
          <button onClick={() => setNews({ state: 'idle' })}>Leave it</button>
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
      return <p role="status">Stored; the page is read anew.</p>;
    case 'failed':
      return (
        <p role="alert">
          <b class="bad">{news.message}</b> {news.hint} <button onClick={start}>Try again</button>
        </p>
      );
  }
}

/** Puts a button that asks first, and shows progress, in the place of the form that works without a script. */
export function mountInfluence(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-influence]');
  if (form === null) return;
  const place = document.createElement('div');
  const values = new FormData(form);
  form.replaceWith(place);
  render(<InfluenceButton values={values} />, place);
}
