import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import type { Links } from '../links.ts';
import { hiddenNote } from '../hidden-texts.ts';
import type { AnsweredTurn, InspectedTurn } from '../stored-turn.ts';
import { contentHtml, leftOut, longText, pairsHtml } from '../../render/section-html.ts';
import { cacheNames } from '../turn/cost-sections.ts';
import { reference } from '../turn/read-turn.ts';
import { failureText, goldContent, itemKinds, scoresText, verdict } from '../turn/turn-sections.ts';
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
  const kinds = itemKinds(item);
  return html`<section aria-labelledby="question">
    <h2 id="question">Question</h2>
    ${pairsHtml([
      ['question', { text: prompt.originalQuery, most: 2000 }],
      ['gold', goldContent(gold, 2000)],
      ...(kinds === '' ? [] : ([['kind', kinds]] as const)),
      ['memories', `${memories} of the user at this turn`],
    ])}
    ${history(sample)}
  </section>`;
}

function history({ prompt: { historyMessages } }: NonNullable<ItemModel['sample']>): Html | string {
  if (historyMessages.length === 0) return '';
  return html`<details>
    <summary>The conversation before it, ${historyMessages.length} messages</summary>
    ${pairsHtml(historyMessages.slice(0, MOST_MESSAGES).map(({ role, content }) => [role, { text: content, most: MOST_BYTES }]))}
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
                    ${longText(content, MOST_BYTES)}<br /><small class="soft"
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
      name: (turn) => html`<a data-open href="${links.turn(reference(run, turn))}">${printable(turn.arm)}</a>`,
      columns: columns.map(({ cell, ...column }) => ({
        ...column,
        cell: (turn) => (turn.state === 'answered' ? cell(turn) : ''),
      })),
      failure: (turn) =>
        turn.state === 'failed' ? html`failed: ${longText(failureText(turn), MOST_BYTES)}` : undefined,
      elsewhere: ', all in the list of the run',
    })}
  </section>`;
}

const columns: readonly ArmColumn<AnsweredTurn>[] = [
  { heading: 'answer', look: 'cut', cell: ({ answer }) => longText(answer.text, MOST_BYTES) },
  { heading: 'verdict', look: 'cut', cell: verdictCell },
  countColumn('prompt', ({ tokens }) => tokens.prompt),
  countColumn('KV resident', ({ tokens }) => tokens.kvResident),
  countColumn('evaluated', ({ tokens }) => tokens.evaluated),
  countColumn('generated', ({ tokens }) => tokens.generated),
  countColumn('positions', ({ tokens }) => tokens.positions),
  timeColumn('TTFT', ({ timings }) => timings.firstToken),
  timeColumn('total', ({ timings }) => timings.total),
];

function verdictCell(turn: AnsweredTurn): Html {
  const cache = turn.account.cache === 'bypass' ? '' : ` · ${cacheNames[turn.account.cache]}`;
  return html`${contentHtml(verdict(turn))}<br /><small class="soft">${printable(scoresText(turn) + cache)}</small>`;
}
