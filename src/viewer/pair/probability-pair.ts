import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import { formatNumber } from '../../render/table.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { bar } from '../turn/bar.ts';
import { probabilityInWords } from '../turn/model-part.ts';
import { nextTokens } from '../turn/next-tokens.ts';
import { leftOut } from '../turn/shown-text.ts';
import { pairRow, pairTable } from './pair-row.ts';
import type { PairModel } from './read-pair.ts';

const MOST_GOLD_TOKENS = 60;

const quotedToken = (token: string): Html => html`<span class="mono">"${printable(token)}"</span>`;

const probability = (value: number | undefined, look: 'here' | 'there'): Html =>
  html`<span class="p">${probabilityInWords(value)}</span> ${bar([{ look, start: 0, share: value ?? 0 }])}`;

const term = (value: number | undefined): Html =>
  value === undefined
    ? html`–`
    : html`${formatNumber(value, 3)} <span class="soft">p ${probabilityInWords(Math.exp(value))}</span>`;

function goldRows({ observed: a }: AnsweredTurn, { observed: b }: AnsweredTurn): Html[] {
  const tokens = a.goldTokens.length >= b.goldTokens.length ? a.goldTokens : b.goldTokens;
  const rows = tokens.slice(0, MOST_GOLD_TOKENS).map(({ token }, place) => {
    const [here, there] = [a.goldTokens[place]?.logProbability, b.goldTokens[place]?.logProbability];
    return pairRow(quotedToken(token), term(here), term(there), here !== there);
  });
  const [sumA, sumB] = [a.goldLogProbability, b.goldLogProbability];
  return [...rows, pairRow('sum, ln p', term(sumA ?? undefined), term(sumB ?? undefined), sumA !== sumB)];
}

/** Section with the probabilities of both: of the likeliest next tokens, and of the gold answer, token by token. */
export function probabilityPair({ a, b }: PairModel): Html {
  const names = [printable(a.arm), printable(b.arm)] as const;
  const next = nextTokens(a.observed.nextTokens, b.observed.nextTokens).map(({ token, here, there }) =>
    pairRow(quotedToken(token), probability(here, 'here'), probability(there, 'there'), here !== there),
  );
  const isJudged = a.observed.goldLogProbability !== null || b.observed.goldLogProbability !== null;
  const golds = Math.max(a.observed.goldTokens.length, b.observed.goldTokens.length);
  return html`<section aria-labelledby="probabilities">
    <h2 id="probabilities">Probabilities</h2>
    <div class="beside">
      <section aria-labelledby="next">
        <h3 id="next">The first token of the answer, p</h3>
        ${pairTable('The first token of the answer', names, next, 'numbers')}
      </section>
      <section aria-labelledby="gold">
        <h3 id="gold">The gold answer, ln p a token</h3>
        ${isJudged ? pairTable('The gold answer, token by token', names, goldRows(a, b), 'numbers') : html`<p class="soft">Not judged.</p>`}
        ${leftOut(MOST_GOLD_TOKENS, golds, 'tokens')}
      </section>
    </div>
  </section>`;
}
