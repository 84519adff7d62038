import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { formatNumber } from '../../render/table.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { bar } from './bar.ts';
import { turnPhases } from './turn-phases.ts';

/** The states of the cache in words. */
export const cacheWords = { miss: 'cache miss', hit: 'cache hit', bypass: 'bypass' } as const;

/** The use of kept K/V: `cache hit`, `cache miss` or `bypass`. */
export function cacheInWords({ account }: Pick<AnsweredTurn, 'account'>): string {
  return cacheWords[account.cache];
}

/** Section on token counts and on the phases of the turn, one after the other. */
export function timingsPart(turn: AnsweredTurn): Html {
  const { timings, tokens, account } = turn;
  const phases = turnPhases(turn);
  const whole = Math.max(timings.total, ...phases.map(({ startMs, ms }) => startMs + ms));
  const first = { look: 'axis', start: timings.firstToken / whole - 0.001, share: 0.003 };
  const expected = account.evaluated;
  return html`<section aria-labelledby="cost">
    <h2 id="cost">Cost: ${cacheInWords(turn)}</h2>
    <div class="scroll" role="region" aria-label="Table of token counts" tabindex="0">
      <table class="plain counts">
        <thead>
          <tr>
            <th scope="col" class="right">prompt</th>
            <th scope="col" class="right">K/V resident</th>
            <th scope="col" class="right">evaluated</th>
            <th scope="col" class="right">generated</th>
            <th scope="col" class="right">positions</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td class="right">${tokens.prompt}</td>
            <td class="right">${tokens.kvResident}</td>
            <td class="right">
              ${tokens.evaluated}${expected === tokens.evaluated ? '' : html` <strong class="bad">(${expected} expected)</strong>`}
            </td>
            <td class="right">${tokens.generated}</td>
            <td class="right">${tokens.positions}</td>
          </tr>
        </tbody>
      </table>
    </div>
    <h3 id="timings">Timings, ms</h3>
    <table class="plain waterfall" aria-labelledby="timings">
      <tbody>
        ${phases.map(
          ({ name, startMs, ms }) =>
            html`<tr>
              <th scope="row">${name}</th>
              <td class="right">${formatNumber(ms, 2)}</td>
              <td class="bars">${bar([{ look: 'phase', start: startMs / whole, share: ms / whole }, first])}</td>
            </tr> `,
        )}
        <tr>
          <th scope="row">first token</th>
          <td class="right">${formatNumber(timings.firstToken, 2)}</td>
          <td class="bars">${bar([{ look: 'first', start: 0, share: timings.firstToken / whole }])}</td>
        </tr>
        <tr>
          <th scope="row">total</th>
          <td class="right">${formatNumber(timings.total, 2)}</td>
          <td class="bars">${bar([{ look: 'total', start: 0, share: timings.total / whole }])}</td>
        </tr>
      </tbody>
    </table>
  </section>`;
}
