import { html } from 'hono/html';
import type { Html } from '../../report/html/html-table.ts';
import { printable } from '../../report/render/printable.ts';
import { formatNumber } from '../../report/table.ts';
import type { Links } from '../links.ts';
import { hiddenNote } from '../hidden-texts.ts';
import type { InspectedTurn } from '../stored-turn.ts';
import { failureInWords, judgementOf, kindsOfItem, scoresInWords } from '../turn/answer-in-words.ts';
import { refOf } from '../turn/read-turn.ts';
import { leftOut, shownText } from '../turn/shown-text.ts';
import { cacheInWords } from '../turn/timings-part.ts';
import type { ItemModel } from './read-item-page.ts';

const MOST_TURNS = 80;
const MOST_EVIDENCE = 40;
const MOST_MESSAGES = 40;
const MOST_BYTES = 400;

/** The page of an item: question, gold answer and evidence, and the answers of all arms. */
export function itemPage(model: ItemModel, links: Links): Html {
  const { itemId, run, userId } = model;
  return html`<h1>Item ${printable(itemId)}</h1>
    <p class="lead">
      Run <a href="${links.run(run.name)}">${printable(run.name)}</a> · user ${printable(userId)} · model
      ${printable(run.model.name)}
    </p>
    ${hiddenNote(run.hiddenTexts)} ${question(model)} ${evidence(model)} ${arms(model, links)}`;
}

function question({ sample }: ItemModel): Html {
  if (sample === undefined) return html`<p class="bad">No arm answered this item.</p>`;
  const { prompt, item } = sample;
  const { gold, memories } = item;
  const kinds = kindsOfItem(item);
  return html`<section aria-labelledby="question">
    <h2 id="question">Question</h2>
    <dl class="pairs">
      <dt>question</dt>
      <dd class="answer">${shownText(prompt.originalQuery, 2000)}</dd>
      <dt>gold</dt>
      <dd>${gold === null ? html`<span class="soft">none: abstaining is right</span>` : shownText(gold, 2000)}</dd>
      ${
        kinds === ''
          ? ''
          : html`<dt>kind</dt>
              <dd>${printable(kinds)}</dd>`
      }
      <dt>memories</dt>
      <dd>${memories} of the user, when asked</dd>
    </dl>
    ${history(sample)}
  </section>`;
}

function history({ prompt: { historyMessages } }: NonNullable<ItemModel['sample']>): Html | string {
  if (historyMessages.length === 0) return '';
  return html`<details>
    <summary>The conversation before it, ${historyMessages.length} messages</summary>
    <dl class="pairs">
      ${historyMessages.slice(0, MOST_MESSAGES).map(
        ({ role, content }) =>
          html`<dt>${printable(role)}</dt>
            <dd>${shownText(content, MOST_BYTES)}</dd> `,
      )}
    </dl>
    ${leftOut(MOST_MESSAGES, historyMessages.length, 'messages')}
  </details>`;
}

function evidence({ evidence: memories, evidenceCount, sample }: ItemModel): Html | string {
  if (sample === undefined) return '';
  const unknown = evidenceCount - memories.length;
  return html`<section aria-labelledby="evidence">
    <h2 id="evidence">Evidence</h2>
    ${
      memories.length === 0 && unknown === 0
        ? html`<p class="soft">No memory holds the answer.</p>`
        : html`<dl class="pairs">
            ${memories.slice(0, MOST_EVIDENCE).map(
              ({ memoryId, content, arms: having }) =>
                html`<dt>${printable(memoryId)}</dt>
                  <dd>
                    ${shownText(content, MOST_BYTES)}<br /><small class="soft"
                      >${having.length === 0 ? 'in the sequence of no arm' : `in the sequence of ${printable(having.join(', '))}`}</small
                    >
                  </dd> `,
            )}
          </dl>`
    }
    ${leftOut(MOST_EVIDENCE, memories.length, 'memories')}
    ${unknown > 0 ? html`<p class="soft">${unknown} more, which no arm retrieved or was given.</p>` : ''}
  </section>`;
}

function arms({ run, turns }: ItemModel, links: Links): Html {
  const several = new Set(turns.map(({ repeat, turn }) => `${repeat}/${turn}`)).size > 1;
  return html`<section aria-labelledby="arms">
    <h2 id="arms">Arms</h2>
    <div class="scroll" role="region" aria-label="Table of the arms" tabindex="0">
      <table class="list arms">
        <thead>
          <tr>
            <th scope="col">arm</th>
            ${several ? html`<th scope="col">repeat / turn</th>` : ''}
            <th scope="col">answer</th>
            <th scope="col">verdict</th>
            <th scope="col" class="right">prompt</th>
            <th scope="col" class="right">K/V resident</th>
            <th scope="col" class="right">evaluated</th>
            <th scope="col" class="right">generated</th>
            <th scope="col" class="right">positions</th>
            <th scope="col" class="right">TTFT, ms</th>
            <th scope="col" class="right">total, ms</th>
          </tr>
        </thead>
        <tbody>
          ${turns.slice(0, MOST_TURNS).map((turn) => row(turn, links.turn(refOf(run, turn)), several))}
        </tbody>
      </table>
    </div>
    ${turns.length <= MOST_TURNS ? '' : html`<p class="note">… ${turns.length - MOST_TURNS} more turns, all in the list of the run.</p>`}
  </section>`;
}

function row(turn: InspectedTurn, href: string, several: boolean): Html {
  const name = html`<th scope="row"><a data-open href="${href}">${printable(turn.arm)}</a></th>
    ${several ? html`<td>${turn.repeat} / ${turn.turn}</td>` : ''}`;
  if (turn.state === 'failed') {
    return html`<tr>
      ${name}
      <td class="cut bad" colspan="9">failed: ${shownText(failureInWords(turn), MOST_BYTES)}</td>
    </tr> `;
  }
  const { answer, tokens, timings, scores, account, unknownQuality } = turn;
  const right = scores.taskSuccess === 1;
  const look = unknownQuality !== null ? 'soft' : right ? 'good' : 'bad';
  const mark = unknownQuality !== null ? '' : right ? '✓ ' : '✗ ';
  const counts = [tokens.prompt, tokens.kvResident, tokens.evaluated, tokens.generated, tokens.positions];
  return html`<tr>
    ${name}
    <td class="cut">${shownText(answer.text, MOST_BYTES)}</td>
    <td class="cut">
      <span class="${look}">${mark}${printable(judgementOf(turn))}</span><br /><small class="soft"
        >${scoresInWords(turn)}${account.cache === 'bypass' ? '' : ` · ${cacheInWords(turn)}`}</small
      >
    </td>
    ${counts.map((count) => html`<td class="right">${count}</td>`)}
    <td class="right">${formatNumber(timings.firstToken, 1)}</td>
    <td class="right">${formatNumber(timings.total, 1)}</td>
  </tr> `;
}
