import { html } from 'hono/html';
import type { Html } from '../../report/html/html-table.ts';
import type { TurnRef } from '../links.ts';

/** Asks for the influence of each memory on a turn; the script puts a question and the progress in its place. */
export function influenceForm(turn: TurnRef, token: string): Html {
  const values = { ...turn, token };
  return html`<section id="influence" aria-labelledby="influence-heading">
    <h3 id="influence-heading">Influence of each memory</h3>
    <p>
      Loads the model and evaluates the answer once with all memories and once without each. The result is stored beside
      the turn.
    </p>
    <form method="post" action="/influence" data-influence>
      ${Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
      <button>Compute the influence of each memory</button>
    </form>
  </section>`;
}
