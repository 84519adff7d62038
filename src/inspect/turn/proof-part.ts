import { html } from 'hono/html';
import type { Html } from '../../report/html/html-table.ts';
import { printable } from '../../report/render/printable.ts';
import { formatNumber } from '../../report/table.ts';
import type { AnsweredTurn } from '../stored-turn.ts';

/** What a turn proves of itself, a name and its words each. */
export function proofOf({ scores: { evidence } }: AnsweredTurn): (readonly [name: string, words: string])[] {
  const { firstForeignToken, parity, sharesPositions, sequenceSha256, freeLogProbability, closed } = evidence;
  const foreign =
    sharesPositions === true
      ? 'one id a position, since blocks share positions from token'
      : 'other ids than the prompt, from token';
  const identity = firstForeignToken === null ? 'the ids of the prompt' : `${foreign} ${firstForeignToken}`;
  return [
    ['read back', `${identity} (sha-256 ${sequenceSha256.slice(0, 12)}…)`],
    ...(parity === null
      ? []
      : ([
          [
            'against text',
            parity.bitwiseEqual
              ? 'bit-identical'
              : `up to ${parity.largestDifference.toExponential(1)} in ln p off the text`,
          ],
        ] as const)),
    ...(freeLogProbability === null || freeLogProbability === undefined
      ? []
      : ([['own answer', `mean ln p a token ${formatNumber(freeLogProbability, 3)}`]] as const)),
    ...(closed === undefined
      ? []
      : ([
          [
            'closed',
            closed ? 'yes: the gold stands nowhere in what was shown' : 'no: the gold stands in what was shown',
          ],
        ] as const)),
  ];
}

/** What was read back from the model, and how exact it is. */
export function proofPart(turn: AnsweredTurn): Html {
  return html`<section aria-labelledby="proof">
    <h2 id="proof">Proof</h2>
    <dl class="pairs">
      ${proofOf(turn).map(
        ([name, words]) =>
          html`<dt>${name}</dt>
            <dd>${printable(words)}</dd> `,
      )}
    </dl>
  </section>`;
}
