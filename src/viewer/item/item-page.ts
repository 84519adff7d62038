import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import type { Links } from '../links.ts';
import { hiddenNote } from '../hidden-texts.ts';
import type { AnsweredTurn, InspectedTurn } from '../stored-turn.ts';
import { failureInWords, judgementOf, kindsOfItem, scoresInWords } from '../turn/answer-in-words.ts';
import { refOf } from '../turn/read-turn.ts';
import { leftOut, shownText } from '../turn/shown-text.ts';
import { cacheInWords } from '../turn/timings-part.ts';
import { type ArmColumn, armsTable, countColumn, timeColumn } from './arms-table.ts';
import type { ItemModel } from './read-item-page.ts';

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
  return html`<section aria-labelledby="arms">
    <h2 id="arms">Arms</h2>
    ${armsTable<InspectedTurn>({
      turns,
      name: (turn) => html`<a data-open href="${links.turn(refOf(run, turn))}">${printable(turn.arm)}</a>`,
      columns: columns.map(({ cell, ...column }) => ({
        ...column,
        cell: (turn) => (turn.state === 'answered' ? cell(turn) : ''),
      })),
      failure: (turn) =>
        turn.state === 'failed' ? html`failed: ${shownText(failureInWords(turn), MOST_BYTES)}` : undefined,
      elsewhere: ', all in the list of the run',
    })}
  </section>`;
}

const columns: readonly ArmColumn<AnsweredTurn>[] = [
  { heading: 'answer', look: 'cut', cell: ({ answer }) => shownText(answer.text, MOST_BYTES) },
  { heading: 'verdict', look: 'cut', cell: verdict },
  countColumn('prompt', ({ tokens }) => tokens.prompt),
  countColumn('K/V resident', ({ tokens }) => tokens.kvResident),
  countColumn('evaluated', ({ tokens }) => tokens.evaluated),
  countColumn('generated', ({ tokens }) => tokens.generated),
  countColumn('positions', ({ tokens }) => tokens.positions),
  timeColumn('TTFT', ({ timings }) => timings.firstToken),
  timeColumn('total', ({ timings }) => timings.total),
];

function verdict(turn: AnsweredTurn): Html {
  const { scores, account, unknownQuality } = turn;
  const right = scores.taskSuccess === 1;
  const look = unknownQuality !== null ? 'soft' : right ? 'good' : 'bad';
  const mark = unknownQuality !== null ? '' : right ? '✓ ' : '✗ ';
  return html`<span class="${look}">${mark}${printable(judgementOf(turn))}</span><br /><small class="soft"
      >${scoresInWords(turn)}${account.cache === 'bypass' ? '' : ` · ${cacheInWords(turn)}`}</small
    >`;
}
