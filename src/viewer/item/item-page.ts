import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import type { Links } from '../links.ts';
import { type HiddenTexts, hiddenInReports, hiddenNote } from '../hidden-texts.ts';
import { type AnsweredTurn, type InspectedTurn, inspectedTurn } from '../stored-turn.ts';
import { contentHtml, leftOut, longText, pairsHtml } from '../../render/section-html.ts';
import { cacheNames } from '../turn/cost-sections.ts';
import { inspectedRun, reference, turnsOfItem } from '../turn/read-turn.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import { failureText, goldContent, itemKinds, scoresText, verdict } from '../turn/turn-sections.ts';
import { type ListColumn, listTable } from '../list.ts';
import { formatNumber } from '../../render/table.ts';

/** Turns that a page shows. */
export const MOST_TURNS = 80;
const MOST_EVIDENCE = 40;
const MOST_MESSAGES = 40;
const MOST_BYTES = 400;

/** Reads an item. @param hidden by default the rule of reports @throws BenchError `not-found` for a name that there is not, `database` for a row that cannot be read */
export function readItemPage(
  database: BenchDatabase,
  runName: string,
  itemId: string,
  hidden: HiddenTexts = hiddenInReports,
) {
  const run = inspectedRun(database, runName, hidden);
  const quality = unknownQuality(run.model);
  const turns = turnsOfItem(database, run, itemId).map(({ id: _, ...row }) => inspectedTurn(row, quality, run.metrics));
  const answered = turns.filter((turn) => turn.state === 'answered');
  return {
    run,
    itemId,
    userId: turns[0]!.userId,
    turns,
    // Any answered turn has the facts that all share.
    sample: answered[0],
    evidence: givenEvidence(answered),
    evidenceCount: answered[0]?.item.evidence ?? 0,
  };
}

/** A question with the turns of all arms; `evidence` is the part of it that some arm retrieved or was given. */
export type ItemModel = ReturnType<typeof readItemPage>;

/** The evidence that the arms were given, each memory with the arms that have it in their sequence. */
function givenEvidence(turns: readonly AnsweredTurn[]) {
  const contents = new Map<string, string>();
  for (const { given } of turns) {
    for (const { memoryId, content, evidence } of given.retrieved) if (evidence) contents.set(memoryId, content);
  }
  return [...contents].map(([memoryId, content]) => {
    const having = turns.filter(({ prompt }) => prompt.segments.some((segment) => segment.memoryId === memoryId));
    return { memoryId, content, arms: [...new Set(having.map(({ arm }) => arm))] };
  });
}

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
  const answered = (cell: (turn: AnsweredTurn) => Html | string) => (turn: InspectedTurn) =>
    turn.state === 'answered' ? cell(turn) : '';
  const number = (heading: string, of: (turn: AnsweredTurn) => number, digits = 0): ListColumn<InspectedTurn> => ({
    heading,
    look: 'right',
    cell: answered((turn) => formatNumber(of(turn), digits)),
  });
  const answer = (turn: InspectedTurn): Html =>
    turn.state === 'answered'
      ? longText(turn.answer.text, MOST_BYTES)
      : html`<span class="bad">failed: ${longText(failureText(turn), MOST_BYTES)}</span>`;
  const columns: ListColumn<InspectedTurn>[] = [
    {
      heading: 'arm',
      cell: (turn) => html`<a data-open href="${links.turn(reference(run, turn))}">${printable(turn.arm)}</a>`,
    },
    ...placeColumn(turns),
    { heading: 'answer', look: 'cut', cell: answer },
    { heading: 'verdict', look: 'cut', cell: answered(verdictCell) },
    number('prompt', ({ tokens }) => tokens.prompt),
    number('KV resident', ({ tokens }) => tokens.kvResident),
    number('evaluated', ({ tokens }) => tokens.evaluated),
    number('generated', ({ tokens }) => tokens.generated),
    number('positions', ({ tokens }) => tokens.positions),
    number('TTFT, ms', ({ timings }) => timings.firstToken, 1),
    number('total, ms', ({ timings }) => timings.total, 1),
  ];
  const more = turns.length - MOST_TURNS;
  return html`<section aria-labelledby="arms">
    <h2 id="arms">Arms</h2>
    ${listTable('Table of the arms', 'arms', columns, turns.slice(0, MOST_TURNS))}
    ${more > 0 ? html`<p class="note">… ${more} more turns, all in the list of the run.</p>` : ''}
  </section>`;
}

/** Repeat and turn, if an arm has several. */
export function placeColumn<Turn extends { readonly repeat: number; readonly turn: number }>(
  turns: readonly Turn[],
): ListColumn<Turn>[] {
  const place = ({ repeat, turn }: Turn): string => `${repeat} / ${turn}`;
  return new Set(turns.map(place)).size > 1 ? [{ heading: 'repeat / turn', cell: place }] : [];
}

function verdictCell(turn: AnsweredTurn): Html {
  const cache = turn.account.cache === 'bypass' ? '' : ` · ${cacheNames[turn.account.cache]}`;
  return html`${contentHtml(verdict(turn))}<br /><small class="soft">${printable(scoresText(turn) + cache)}</small>`;
}
