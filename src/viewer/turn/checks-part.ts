import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import { formatNumber } from '../../render/table.ts';
import type { AnsweredTurn } from '../stored-turn.ts';

/** Observations of a turn that the checks of its run rest on, a name and words each. */
export function checksOf({ item, observed, account }: AnsweredTurn): (readonly [name: string, words: string])[] {
  const { firstForeignToken, parity, sequenceSha256, freeLogProbability, closed } = observed;
  const foreign = account.sharesPositions
    ? 'one id a position, since blocks share positions from token'
    : 'other ids than the prompt, from token';
  const identity = firstForeignToken === null ? 'the ids of the prompt' : `${foreign} ${firstForeignToken}`;
  const numerical =
    parity === null
      ? undefined
      : parity.bitwiseEqual
        ? 'bit-identical'
        : `up to ${parity.largestDifference.toExponential(1)} in ln p off the text`;
  return [
    ['read back', `${identity} (sha-256 ${sequenceSha256.slice(0, 12)}…)`],
    ...(numerical === undefined ? [] : ([['against text', numerical]] as const)),
    ...(freeLogProbability === null
      ? []
      : ([['own answer', `mean ln p a token ${formatNumber(freeLogProbability, 3)}`]] as const)),
    ...(item.gold === null
      ? []
      : ([
          [
            'closed item',
            closed ? 'yes: the gold stands in nothing that was shown' : 'no: the gold stands in what was shown',
          ],
        ] as const)),
  ];
}

/** Section on what was observed of a turn from outside the system. */
export function checksPart(turn: AnsweredTurn): Html {
  return html`<section aria-labelledby="checks">
    <h2 id="checks">Checks</h2>
    <dl class="pairs">
      ${checksOf(turn).map(
        ([name, words]) =>
          html`<dt>${name}</dt>
            <dd>${printable(words)}</dd> `,
      )}
    </dl>
  </section>`;
}
