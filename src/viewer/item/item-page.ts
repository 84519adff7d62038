import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import type { Links } from '../links.ts';
import { type HiddenTexts, hiddenInReports, hiddenNote } from '../hidden-texts.ts';
import { type AnsweredTurn, type InspectedTurn, inspectedTurn } from '../stored-turn.ts';
import { contentHtml, leftOut, longText, pairsHtml } from '../../render/section-html.ts';
import { cacheNames } from '../turn/cost-sections.ts';
import { inspectedRun, type InspectedRun, reference, turnsOfItem } from '../turn/read-turn.ts';
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

/** A memory of the evidence. */
export interface EvidenceMemory {
  readonly memoryId: string;
  readonly content: string;
  /** Arms that have it in their sequence. */
  readonly arms: readonly string[];
}

/** A question with the turns of all arms. */
export interface ItemModel {
  readonly run: InspectedRun;
  readonly itemId: string;
  readonly userId: string;
  /** By arm, repeat and number of the turn; not empty. */
  readonly turns: readonly InspectedTurn[];
  /** A turn that gave an answer, for the facts that all share; undefined if all failed. */
  readonly sample: AnsweredTurn | undefined;
  /** The part of it that some arm retrieved or was given. */
  readonly evidence: readonly EvidenceMemory[];
  /** The number of memories of the evidence, by the data set. */
  readonly evidenceCount: number;
}

/** Reads an item. @param hidden by default the rule of reports @throws BenchError `not-found` for a name that there is not, `database` for a row that cannot be read */
export function readItemPage(
  database: BenchDatabase,
  runName: string,
  itemId: string,
  hidden: HiddenTexts = hiddenInReports,
): ItemModel {
  const run = inspectedRun(database, runName, hidden);
  const quality = unknownQuality(run.model);
  const turns = turnsOfItem(database, run, itemId).map(({ id: _, ...row }) => inspectedTurn(row, quality, run.metrics));
  const answered = turns.filter((turn) => turn.state === 'answered');
  return {
    run,
    itemId,
    userId: turns[0]!.userId,
    turns,
    sample: answered[0],
    evidence: givenEvidence(answered),
    evidenceCount: answered[0]?.item.evidence ?? 0,
  };
}

/** Collects the evidence that the arms were given. */
function givenEvidence(turns: readonly AnsweredTurn[]): EvidenceMemory[] {
  const contents = new Map<string, string>();
  for (const { given } of turns) {
    for (const { memoryId, content, evidence } of given.retrieved) if (evidence) contents.set(memoryId, content);
  }
  return [...contents].map(([memoryId, content]) => ({
    memoryId,
    content,
    arms: [
      ...new Set(
        turns
          .filter(({ prompt }) => prompt.segments.some((segment) => segment.memoryId === memoryId))
          .map(({ arm }) => arm),
      ),
    ],
  }));
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
  const count = (heading: string, of: (turn: AnsweredTurn) => number): ListColumn<InspectedTurn> => ({
    heading,
    look: 'right',
    cell: answered((turn) => String(of(turn))),
  });
  const time = (heading: string, of: (turn: AnsweredTurn) => number): ListColumn<InspectedTurn> => ({
    heading: `${heading}, ms`,
    look: 'right',
    cell: answered((turn) => formatNumber(of(turn), 1)),
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
    count('prompt', ({ tokens }) => tokens.prompt),
    count('KV resident', ({ tokens }) => tokens.kvResident),
    count('evaluated', ({ tokens }) => tokens.evaluated),
    count('generated', ({ tokens }) => tokens.generated),
    count('positions', ({ tokens }) => tokens.positions),
    time('TTFT', ({ timings }) => timings.firstToken),
    time('total', ({ timings }) => timings.total),
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
