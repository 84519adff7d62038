import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import { formatNumber } from '../../render/table.ts';
import type { AttributionRecord } from '../../store/records/attribution-record.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { bar } from './bar.ts';
import { leftOut, shownText } from './shown-text.ts';

const MOST_MEMORIES = 40;
const MOST_BYTES = 1200;
/** Of all memories together. */
const MOST_IN_ALL = 20_000;
const MOST_SUMMARY = 8_000;

/** The retrieval of the memories, in a sentence. */
export function retrievalSummary({ given: { retrieval }, timings }: AnsweredTurn): string {
  if (retrieval === null) return 'No retriever was asked.';
  const { strategy, timingsMs, tokensUsed, tokenBudget } = retrieval;
  const times = Object.entries(timingsMs).map(([name, ms]) => `${name} ${formatNumber(ms, 2)}`);
  const budget = tokenBudget === undefined ? '' : `, ${tokensUsed ?? 0} of ${tokenBudget} tokens of its budget`;
  return `Strategy ${strategy}, ${formatNumber(timings.retrieve, 2)} ms (${times.join(', ')})${budget}.`;
}

/** The flags of a retrieval with their reasons: `degraded: the index was not there`. */
export function retrievalFlags({ given: { retrieval } }: AnsweredTurn): string[] {
  return (retrieval?.flags ?? []).map(({ flag, reason }) => `${flag}: ${reason}`);
}

/** The attribution to one memory: ln p of the answer with all memories, less that without this one. */
function attributionCell(attribution: AttributionRecord, memoryId: string, largest: number): Html {
  const without = attribution.memories.find((memory) => memory.memoryId === memoryId);
  if (without === undefined) return html`<td class="soft">not in the sequence</td>`;
  const difference = attribution.logProbability - without.logProbability;
  const share = largest === 0 ? 0 : Math.abs(difference) / largest / 2;
  const part = { look: difference >= 0 ? 'helped' : 'harmed', start: difference >= 0 ? 0.5 : 0.5 - share, share };
  return html`<td class="attribution">
    <span>${difference > 0 ? '+' : ''}${formatNumber(difference, 3)}</span
    >${bar([part, { look: 'axis', start: 0.499, share: 0.002 }])}
  </td>`;
}

/** Section on the retrieved memories by rank, with their leave-one-out attribution if it was computed. */
export function memoriesPart(turn: AnsweredTurn, attribution: AttributionRecord | undefined): Html {
  const { retrieved } = turn.given;
  let left = MOST_IN_ALL;
  const largest = Math.max(
    ...(attribution?.memories ?? []).map(({ logProbability }) =>
      Math.abs(attribution!.logProbability - logProbability),
    ),
  );
  const rows = retrieved.slice(0, MOST_MEMORIES).map(({ rank, score, evidence, kept, memoryId, content }) => {
    const most = Math.max(0, Math.min(MOST_BYTES, left));
    left -= Math.min(Buffer.byteLength(content), most);
    return html`<tr class="${evidence ? 'evidence' : ''}">
      <td class="right">${rank}</td>
      <td class="right">${formatNumber(score, 3)}</td>
      <td>${evidence ? html`<strong class="good">evidence</strong>` : html`<span class="soft">–</span>`}</td>
      <td>${kept ? 'kept' : html`<span class="bad">not kept</span>`}</td>
      <th scope="row">${printable(memoryId)}</th>
      <td class="wide">${shownText(content, most)}</td>
      ${attribution === undefined ? '' : attributionCell(attribution, memoryId, largest)}
    </tr> `;
  });
  return html`<section aria-labelledby="memories">
    <h2 id="memories">Retrieved memories, ${retrieved.length}</h2>
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
                  ${attribution === undefined ? '' : html`<th scope="col">attribution, ln p</th>`}
                </tr>
              </thead>
              <tbody>
                ${rows}
              </tbody>
            </table>
          </div>`
    }
    ${leftOut(MOST_MEMORIES, retrieved.length, 'memories')} ${summaryOf(turn)}
    ${
      attribution === undefined
        ? ''
        : html`<p class="note">
            Leave-one-out attribution: ln p of the answer with all memories,
            ${formatNumber(attribution.logProbability, 3)}, less that without this one, left out
            ${attribution.method === 'blocks' ? 'as a block of K/V' : 'as a line of the text'}; above 0 the memory made
            the answer likelier. Time in the model: ${formatNumber(attribution.modelMs, 0)} ms.
          </p>`
    }
  </section>`;
}

function summaryOf({ given: { summary = '' } }: AnsweredTurn): Html | string {
  if (summary === '') return '';
  return html`<details>
    <summary>Summary by the retriever (history_context)</summary>
    <pre>${shownText(summary, MOST_SUMMARY)}</pre>
  </details>`;
}

function details({ given: { retrieval } }: AnsweredTurn): Html | string {
  if (retrieval === null || Object.keys(retrieval.details).length === 0) return '';
  return html`<details>
    <summary>Details of the retrieval</summary>
    <pre>${shownText(JSON.stringify(retrieval.details), 4000)}</pre>
  </details>`;
}
