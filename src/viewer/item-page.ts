/** The page of an item: the outcomes of all arms, and for a run its conversation and evidence. */
import { html } from 'hono/html';
import type { BenchDatabase } from '../store/database.ts';
import { TurnListRepository, type TurnOutcome } from '../store/turn-list-repository.ts';
import { unknownQuality } from '../eval/analysis/unknown-quality.ts';
import type { Html } from '../render/html.ts';
import { printable } from '../render/escape-control-characters.ts';
import { leftOut, longText, pairsHtml } from '../render/section-html.ts';
import { formatNumber } from '../render/format-number.ts';
import { wrappingName } from '../render/table-html.ts';
import { findRunByName } from '../eval/analysis/results-from-stored-turns.ts';
import { unknownNameError } from '../base/bench-error.ts';
import { hiddenInReports, hiddenNote } from './hidden-texts.ts';
import type { Links } from './links.ts';
import { type ListColumn, listTable } from './list-components.ts';
import { matrixRow, outcomeLook, outcomeText, outcomeMarks, armOutcome } from './matrix/item-arm-matrix.ts';
import { turnPageRun, turnsOfItem } from './turn/turn-page.ts';
import { goldContent, itemKinds } from './turn/turn-sections.ts';

const MAX_TURNS = 80;
const MAX_EVIDENCE = 40;
const MAX_MESSAGES = 40;
const MAX_BYTES = 400;

/** Reads an item of a run. @throws BenchError `not-found` for an unknown run or item, `database` for a row that cannot be read */
export function readItemPage(database: BenchDatabase, runName: string, itemId: string, hidden = hiddenInReports) {
  const run = turnPageRun(database, runName, hidden);
  const turns = turnsOfItem(database, run, itemId);
  const answered = turns.filter((turn) => turn.state === 'answered');
  const contents = new Map<string, string>();
  for (const { memoryId, content, evidence } of answered.flatMap(({ given }) => given.retrieved)) {
    if (evidence) contents.set(memoryId, content);
  }
  const evidence = [...contents].map(([memoryId, content]) => {
    const having = answered.filter(({ prompt }) => prompt.segments.some((segment) => segment.memoryId === memoryId));
    return { memoryId, content, arms: [...new Set(having.map(({ arm }) => arm))] };
  });
  const outcomes = readOutcomes(database, run, itemId, run.hiddenTexts !== null);
  const judged = unknownQuality(run.model) === null;
  // Every answered turn has the facts of the item.
  return { run, itemId, userId: turns[0]!.userId, outcomes, sample: answered[0], evidence, judged };
}

/** An item with the outcomes of all arms. `evidence` has the evidence memories that at least one arm retrieved or was given. */
export type ItemModel = ReturnType<typeof readItemPage>;

/** The outcomes of an item in the planned order of arms, without texts if these are hidden. */
function readOutcomes(
  database: BenchDatabase,
  { id, arms }: { readonly id: string; readonly arms: readonly { readonly name: string }[] },
  itemId: string,
  isHidden: boolean,
): TurnOutcome[] {
  const { turns } = matrixRow(itemId, new TurnListRepository(database).outcomes(id, [itemId]), isHidden);
  return arms.flatMap(({ name }) => turns.get(name) ?? []);
}

export function itemPage(model: ItemModel, links: Links): Html {
  const { run, itemId, outcomes, judged } = model;
  const link = ({ arm, repeat, turn }: TurnOutcome) => links.turn({ run: run.name, item: itemId, arm, repeat, turn });
  return html`${head({ ...model, run: run.name, model: run.model.name }, links)} ${hiddenNote(run.hiddenTexts)}
    ${question(model)} ${evidenceSection(model)}
    <section aria-labelledby="arms">
      <h2 id="arms">Arms</h2>
      ${armsTable(outcomes, judged, link)}
    </section>`;
}

function head(item: Readonly<Record<'itemId' | 'run' | 'userId' | 'model', string>>, links: Links): Html {
  return html`<h1>Item ${printable(item.itemId)}</h1>
    <p class="lead">
      Run <a href="${links.run(item.run)}">${printable(item.run)}</a> · user ${printable(item.userId)} · model
      ${printable(item.model)}
    </p>`;
}

function question({ sample }: ItemModel): Html {
  if (sample === undefined) return html`<p class="bad">No arm answered this item.</p>`;
  const { prompt, item } = sample;
  const kinds = itemKinds(item);
  const messages = prompt.historyMessages;
  return html`<section aria-labelledby="question">
    <h2 id="question">Question</h2>
    ${pairsHtml([
      ['question', { text: prompt.originalQuery, most: 2000 }],
      ['gold', goldContent(item.gold, 2000)],
      ...(kinds === '' ? [] : ([['kind', kinds]] as const)),
      ['memories', `${item.memories} of the user at this turn`],
    ])}
    ${
      messages.length === 0
        ? ''
        : html`<details>
            <summary>The conversation before it, ${messages.length} messages</summary>
            ${pairsHtml(messages.slice(0, MAX_MESSAGES).map(({ role, content }) => [role, { text: content, most: MAX_BYTES }]))}
            ${leftOut(MAX_MESSAGES, messages.length, 'messages')}
          </details>`
    }
  </section>`;
}

function evidenceSection({ evidence, sample }: ItemModel): Html | string {
  if (sample === undefined) return '';
  const unknown = sample.item.evidence - evidence.length;
  const memories = evidence.slice(0, MAX_EVIDENCE).map(({ memoryId, content, arms }) => {
    const having = arms.length === 0 ? 'in the sequence of no arm' : `in the sequence of ${printable(arms.join(', '))}`;
    return html`<dt>${printable(memoryId)}</dt>
      <dd>${longText(content, MAX_BYTES)}<br /><small class="soft">${having}</small></dd> `;
  });
  return html`<section aria-labelledby="evidence">
    <h2 id="evidence">Evidence</h2>
    ${
      evidence.length === 0 && unknown === 0
        ? html`<p class="soft">No memory holds the answer.</p>`
        : html`<dl class="pairs">${memories}</dl>`
    }
    ${leftOut(MAX_EVIDENCE, evidence.length, 'memories')}
    ${unknown > 0 ? html`<p class="soft">${unknown} more ${unknown === 1 ? 'was' : 'were'} neither retrieved nor given to any arm.</p>` : ''}
  </section>`;
}

function armsTable(outcomes: readonly TurnOutcome[], judged: boolean, link?: (turn: TurnOutcome) => string): Html {
  const shown = outcomes.slice(0, MAX_TURNS);
  const more = outcomes.length - MAX_TURNS;
  return html`${listTable('Table of the arms', 'arms', outcomeColumns(judged, outcomes, link), shown)}
  ${more > 0 ? html`<p class="note">… ${more} more turns.</p>` : ''}`;
}

/** The page of an item of a report: question, gold and the answers of all arms. @throws BenchError `not-found` for an unknown run or item */
export function reportItemPage(
  database: BenchDatabase,
  { run: runName, item: itemId }: Readonly<Record<'run' | 'item', string>>,
  links: Links,
  hidden = hiddenInReports,
): Html {
  const run = findRunByName(database, runName);
  const hiddenTexts = hidden(run);
  const outcomes = readOutcomes(database, { id: run.id, arms: run.plan.arms }, itemId, hiddenTexts !== null);
  const [first] = outcomes;
  if (first === undefined) {
    throw unknownNameError(`run "${run.name}" has no item`, itemId, new TurnListRepository(database).items(run.id));
  }
  const { userId, category } = first;
  const { question, gold } = outcomes.find((turn) => turn.question !== null) ?? first;
  const missing = { text: 'not in the report', look: 'soft' } as const;
  const hasGold = question !== null && hiddenTexts === null;
  return html`${head({ itemId, run: run.name, userId, model: run.model.name }, links)} ${hiddenNote(hiddenTexts)}
    ${pairsHtml([
      ['question', question === null || question === '' ? missing : { text: question, most: MAX_BYTES }],
      ['gold', hasGold || (gold !== null && gold !== '') ? goldContent(gold, MAX_BYTES) : missing],
      ...(category === null || category === '' ? [] : ([['kind', category]] as const)),
    ])}
    ${armsTable(outcomes, unknownQuality(run.model) === null)}
    <p class="note">
      A report has only outcomes of turns. Prompts, KV and probabilities are in the database of the run:
      <code>npx dki-bench inspect --db FILE</code>.
    </p>`;
}

function outcomeColumns(
  judged: boolean,
  turns: readonly TurnOutcome[],
  link: ((turn: TurnOutcome) => string) | undefined,
): ListColumn<TurnOutcome>[] {
  const place = ({ repeat, turn }: TurnOutcome): string => `${repeat} / ${turn}`;
  const look = (turn: TurnOutcome): string => outcomeLook([turn], judged);
  const outcome = (turn: TurnOutcome): Html => html`<span class="${look(turn)}">${outcomeText([turn], judged)}</span>`;
  const arm = (turn: TurnOutcome): Html =>
    link === undefined ? wrappingName(turn.arm) : html`<a data-open href="${link(turn)}">${wrappingName(turn.arm)}</a>`;
  const number = (heading: string, digits: number, value: (turn: TurnOutcome) => number | null) => ({
    heading,
    look: 'right',
    cell: (turn: TurnOutcome) => formatNumber(value(turn) ?? NaN, digits),
  });
  return [
    { heading: 'arm', cell: arm },
    ...(new Set(turns.map(place)).size > 1 ? [{ heading: 'repeat / turn', cell: place }] : []),
    {
      heading: 'answer',
      look: 'cut',
      cell: (turn) =>
        html`${judged ? html`<b class="${look(turn)}">${outcomeMarks[armOutcome([turn], judged)]}</b> ` : ''}${longText(turn.error ?? turn.answer, MAX_BYTES)}`,
    },
    { heading: 'outcome', look: 'cut', cell: outcome },
    number('prompt', 0, ({ promptTokens }) => promptTokens),
    number('KV resident', 0, ({ kvResidentTokens }) => kvResidentTokens),
    number('evaluated', 0, ({ evaluatedTokens }) => evaluatedTokens),
    number('generated', 0, ({ generatedTokens }) => generatedTokens),
    number('TTFT, ms', 1, ({ firstTokenMs }) => firstTokenMs),
    number('total, ms', 1, ({ totalMs }) => totalMs),
  ];
}
