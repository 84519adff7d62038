import { html } from 'hono/html';
import type { Html } from '../../report/html/html-table.ts';
import { printable } from '../../report/render/printable.ts';
import { formatNumber } from '../../report/table.ts';
import type { Influence } from '../influence-port.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { bar } from './bar.ts';
import { leftOut, shownText } from './shown-text.ts';

const MOST_MEMORIES = 40;
const MOST_BYTES = 1200;
/** Of all memories together. */
const MOST_IN_ALL = 20_000;

/** How the memories were recalled, in a sentence. */
export function retrievalSummary({ scores: { retrieval }, timings }: AnsweredTurn): string {
  if (retrieval === undefined) return 'How they were recalled is not recorded.';
  if (retrieval === null) return 'No retriever was asked.';
  const { strategy, timingsMs, tokensUsed, tokenBudget } = retrieval;
  const times = Object.entries(timingsMs).map(([name, ms]) => `${name} ${formatNumber(ms, 2)}`);
  const budget = tokenBudget === undefined ? '' : `, ${tokensUsed ?? 0} of ${tokenBudget} tokens of its budget`;
  return `Strategy ${strategy}, ${formatNumber(timings.retrieve, 2)} ms (${times.join(', ')})${budget}.`;
}

/** What a retrieval did that is out of the ordinary: `degraded: the index was not there`. */
export function retrievalFlags({ scores: { retrieval } }: AnsweredTurn): string[] {
  return (retrieval?.flags ?? []).map(({ flag, reason }) => `${flag}: ${reason}`);
}

/** How much likelier a memory made the answer: ln p with all, less ln p without it. */
function influenceCell(influence: Influence, memoryId: string, largest: number): Html {
  const without = influence.memories.find((memory) => memory.memoryId === memoryId);
  if (without === undefined) return html`<td class="soft">not in the sequence</td>`;
  const difference = influence.logProbability - without.logProbability;
  const share = largest === 0 ? 0 : Math.abs(difference) / largest / 2;
  const part = { look: difference >= 0 ? 'helped' : 'harmed', start: difference >= 0 ? 0.5 : 0.5 - share, share };
  return html`<td class="influence">
    <span>${difference > 0 ? '+' : ''}${formatNumber(difference, 3)}</span
    >${bar([part, { look: 'axis', start: 0.499, share: 0.002 }])}
  </td>`;
}

/** The recalled memories by rank, and what each did to the answer, where that was computed. */
export function memoriesPart(turn: AnsweredTurn, influence: Influence | undefined): Html {
  const { memories } = turn;
  let left = MOST_IN_ALL;
  const largest = Math.max(
    ...(influence?.memories ?? []).map(({ logProbability }) => Math.abs(influence!.logProbability - logProbability)),
  );
  const rows = memories.slice(0, MOST_MEMORIES).map(({ rank, score, evidence, kept, memoryId, content }) => {
    const most = Math.max(0, Math.min(MOST_BYTES, left));
    left -= Math.min(Buffer.byteLength(content), most);
    return html`<tr class="${evidence ? 'evidence' : ''}">
      <td class="right">${rank}</td>
      <td class="right">${formatNumber(score, 3)}</td>
      <td>${evidence ? html`<strong class="good">evidence</strong>` : html`<span class="soft">–</span>`}</td>
      <td>${kept ? 'kept' : html`<span class="bad">not kept</span>`}</td>
      <th scope="row">${printable(memoryId)}</th>
      <td class="wide">${shownText(content, most)}</td>
      ${influence === undefined ? '' : influenceCell(influence, memoryId, largest)}
    </tr> `;
  });
  return html`<section aria-labelledby="memories">
    <h2 id="memories">Recalled memories, ${memories.length}</h2>
    <p>${printable(retrievalSummary(turn))}</p>
    ${retrievalFlags(turn).map((flag) => html`<p class="bad">${printable(flag)}</p>`)} ${details(turn)}
    ${
      rows.length === 0
        ? html`<p class="soft">None.</p>`
        : html`<div class="scroll" role="region" aria-label="Table of the memories" tabindex="0">
            <table class="plain memories">
              <thead>
                <tr>
                  <th scope="col" class="right">rank</th>
                  <th scope="col" class="right">score</th>
                  <th scope="col">evidence</th>
                  <th scope="col">kept</th>
                  <th scope="col">memory</th>
                  <th scope="col">content</th>
                  ${influence === undefined ? '' : html`<th scope="col">influence, ln p</th>`}
                </tr>
              </thead>
              <tbody>
                ${rows}
              </tbody>
            </table>
          </div>`
    }
    ${leftOut(MOST_MEMORIES, memories.length, 'memories')}
    ${
      influence === undefined
        ? ''
        : html`<p class="note">
            Influence: ln p of the answer with all memories, ${formatNumber(influence.logProbability, 3)}, less that
            without this one, left out ${influence.method === 'blocks' ? 'as a block of K/V' : 'as a line of the text'};
            above 0 the memory made the answer likelier. It took the model ${formatNumber(influence.modelMs, 0)} ms.
          </p>`
    }
  </section>`;
}

function details({ scores: { retrieval } }: AnsweredTurn): Html | string {
  if (retrieval === null || retrieval === undefined || Object.keys(retrieval.details).length === 0) return '';
  return html`<details>
    <summary>What the strategy did</summary>
    <pre>${shownText(JSON.stringify(retrieval.details), 4000)}</pre>
  </details>`;
}
