import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import type { Observed } from '../../store/records/observed.ts';
import { printable } from '../../render/printable.ts';
import { formatNumber } from '../../render/table.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { bar } from './bar.ts';
import { nextTokens } from './next-tokens.ts';

const MOST_GOLD_TOKENS = 60;

/** A token in quotation marks, so that its spaces are visible. */
const quotedToken = (token: string): string => `"${printable(token)}"`;

const probability = (value: number): string => (value >= 0.0005 ? value.toFixed(3) : value.toExponential(0));

/** A probability as text: `0.912`, `3e-5`, or `–` if it is not among those that are stored. */
export const probabilityInWords = (value: number | undefined): string =>
  value === undefined ? '–' : probability(value);

/** Section on the model's probabilities: the next token, beside that of RAG, and the gold answer token by token. */
export function modelPart(turn: AnsweredTurn, rag: AnsweredTurn | undefined): Html {
  const { observed } = turn;
  const agreement = agreementInWords(observed.agreement);
  return html`<section aria-labelledby="next">
    <h2 id="next">Next token</h2>
    ${agreement === undefined ? '' : html`<p>${agreement}</p>`} ${next(turn, rag)}
    <h3 id="gold">The gold answer, token by token</h3>
    ${gold(observed)}
  </section>`;
}

/** The agreement of the next token with that of the reference arm, in words; undefined without a reference. */
export function agreementInWords(value: Observed['agreement']): string | undefined {
  if (value === null) return undefined;
  const likeliest = value.topOne ? 'the same likeliest token' : 'another likeliest token';
  return `Against the reference: ${likeliest}, KL divergence ${value.klDivergence === 0 ? '0' : value.klDivergence.toExponential(1)}.`;
}

function probabilityCell(value: number | undefined, look: string): Html {
  return html`<td class="right">${probabilityInWords(value)}</td>
    <td class="bars">${bar([{ look, start: 0, share: value ?? 0 }])}</td>`;
}

function next(turn: AnsweredTurn, rag: AnsweredTurn | undefined): Html {
  const rows = nextTokens(turn.observed.nextTokens, rag?.observed.nextTokens ?? []);
  return html`<div class="scroll" role="region" aria-label="Table of next tokens" tabindex="0">
    <table class="plain next">
      <thead>
        <tr>
          <th scope="col">token</th>
          <th scope="col" colspan="2">${printable(turn.arm)}, p</th>
          ${rag === undefined ? '' : html`<th scope="col" colspan="2">${printable(rag.arm)}, p</th>`}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ token, here, there }) =>
            html`<tr>
              <th scope="row" class="mono">${quotedToken(token)}</th>
              ${probabilityCell(here, 'here')}${rag === undefined ? '' : probabilityCell(there, 'there')}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`;
}

function gold({ goldTokens, goldLogProbability }: Observed): Html {
  if (goldLogProbability === null) return html`<p class="soft">Not judged.</p>`;
  return html`<p>ln p of the gold answer: <strong>${formatNumber(goldLogProbability, 3)}</strong></p>
    <table class="plain gold" aria-labelledby="gold">
      <thead>
        <tr>
          <th scope="col">token</th>
          <th scope="col" class="right">ln p</th>
          <th scope="col">p</th>
        </tr>
      </thead>
      <tbody>
        ${goldTokens.slice(0, MOST_GOLD_TOKENS).map(
          ({ token, logProbability }) =>
            html`<tr>
              <th scope="row" class="mono">${quotedToken(token)}</th>
              <td class="right">${formatNumber(logProbability, 3)}</td>
              <td class="bars">${bar([{ look: 'here', start: 0, share: Math.exp(logProbability) }])}</td>
            </tr> `,
        )}
      </tbody>
    </table>`;
}
