/** The page of an item: for a run with the turns of all arms, for a report with their outcomes. */
import { html } from 'hono/html';
import type { BenchDatabase } from '../store/database.ts';
import { TurnListRepository, type TurnOutcome } from '../store/turn-list-repository.ts';
import { unknownQuality } from '../eval/analysis/unknown-quality.ts';
import type { Html } from '../render/html.ts';
import { printable } from '../render/escape-control-characters.ts';
import { contentHtml, leftOut, longText, pairsHtml } from '../render/section-html.ts';
import { formatNumber } from '../render/format-number.ts';
import { findRunByName } from '../eval/analysis/find-runs.ts';
import { unknownNameError } from '../base/bench-error.ts';
import { hiddenInReports, hiddenNote } from './hidden-texts.ts';
import type { Links } from './links.ts';
import { type ListColumn, listTable } from './list-components.ts';
import { matrixRow } from './matrix/item-arm-matrix.ts';
import { isRight, outcomeText, outcomeMarks, armOutcome } from './matrix/arm-outcome.ts';
import { type AnsweredDisplayTurn, type DisplayTurn, turnForDisplay } from './turn-scores-for-display.ts';
import { cacheNames } from './turn/kv-and-cost-sections.ts';
import { turnPageRun, reference, turnsOfItem } from './turn/read-turn-page.ts';
import { failureText, goldContent, itemKinds, scoresText, verdict } from './turn/turn-sections.ts';

const MAX_TURNS = 80;
const MAX_EVIDENCE = 40;
const MAX_MESSAGES = 40;
const MAX_BYTES = 400;

/** Reads an item. @throws BenchError `not-found` for an unknown run or item, `database` for a row that cannot be read */
export function readItemPage(database: BenchDatabase, runName: string, itemId: string, hidden = hiddenInReports) {
  const run = turnPageRun(database, runName, hidden);
  const quality = unknownQuality(run.model);
  const turns = turnsOfItem(database, run, itemId).map(({ id: _, ...row }) =>
    turnForDisplay(row, quality, run.metrics),
  );
  const answered = turns.filter((turn) => turn.state === 'answered');
  const contents = new Map<string, string>();
  for (const { memoryId, content, evidence } of answered.flatMap(({ given }) => given.retrieved)) {
    if (evidence) contents.set(memoryId, content);
  }
  const evidence = [...contents].map(([memoryId, content]) => {
    const having = answered.filter(({ prompt }) => prompt.segments.some((segment) => segment.memoryId === memoryId));
    return { memoryId, content, arms: [...new Set(having.map(({ arm }) => arm))] };
  });
  // Every answered turn has the facts of the item.
  const [sample] = answered;
  return { run, itemId, userId: turns[0]!.userId, turns, sample, evidence };
}

/** An item with the turns of all arms. `evidence` has the evidence memories that at least one arm retrieved or was given. */
export type ItemModel = ReturnType<typeof readItemPage>;

export function itemPage(model: ItemModel, links: Links): Html {
  const { run, turns } = model;
  const more = turns.length - MAX_TURNS;
  return html`${head({ ...model, run: run.name, model: run.model.name }, links)} ${hiddenNote(run.hiddenTexts)}
    ${question(model)} ${evidenceSection(model)}
    <section aria-labelledby="arms">
      <h2 id="arms">Arms</h2>
      ${armsTable(turns, turnColumns(model, links))}
      ${more > 0 ? html`<p class="note">… ${more} more turns, all in the list of the run.</p>` : ''}
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

const armsTable = <Turn>(turns: readonly Turn[], columns: readonly ListColumn<Turn>[]): Html =>
  listTable('Table of the arms', 'arms', columns, turns.slice(0, MAX_TURNS));

function placeColumn<Turn extends Pick<TurnOutcome, 'repeat' | 'turn'>>(turns: readonly Turn[]): ListColumn<Turn>[] {
  const place = ({ repeat, turn }: Turn): string => `${repeat} / ${turn}`;
  return new Set(turns.map(place)).size > 1 ? [{ heading: 'repeat / turn', cell: place }] : [];
}

function turnColumns({ run, turns }: ItemModel, links: Links): ListColumn<DisplayTurn>[] {
  const answered = (cell: (turn: AnsweredDisplayTurn) => Html | string) => (turn: DisplayTurn) =>
    turn.state === 'answered' ? cell(turn) : '';
  const number = (
    heading: string,
    value: (turn: AnsweredDisplayTurn) => number,
    digits = 0,
  ): ListColumn<DisplayTurn> => ({
    heading,
    look: 'right',
    cell: answered((turn) => formatNumber(value(turn), digits)),
  });
  const answer = (turn: DisplayTurn): Html =>
    turn.state === 'answered'
      ? longText(turn.answer.text, MAX_BYTES)
      : html`<span class="bad">failed: ${longText(failureText(turn), MAX_BYTES)}</span>`;
  const verdictCell = (turn: AnsweredDisplayTurn): Html => {
    const cache = turn.account.cache === 'bypass' ? '' : ` · ${cacheNames[turn.account.cache]}`;
    return html`${contentHtml(verdict(turn))}<br /><small class="soft">${printable(scoresText(turn) + cache)}</small>`;
  };
  return [
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
}

/** The page of an item of a report: question, gold and the answers of all arms. @throws BenchError `not-found` for an unknown run or item */
export function reportItemPage(
  database: BenchDatabase,
  { run: runName, item: itemId }: Readonly<Record<'run' | 'item', string>>,
  links: Links,
  hidden = hiddenInReports,
): Html {
  const run = findRunByName(database, runName);
  const outcomes = new TurnListRepository(database).outcomes(run.id, [itemId]);
  const [first] = outcomes;
  if (first === undefined) {
    throw unknownNameError(`run "${run.name}" has no item`, itemId, new TurnListRepository(database).items(run.id));
  }
  const { userId, category } = first;
  const hiddenTexts = hidden(run);
  const row = matrixRow(itemId, outcomes, hiddenTexts !== null);
  const { question, gold } = row;
  const turns = [...row.turns.values()].flat();
  const missing = { text: 'not in the report', look: 'soft' } as const;
  const hasGold = question !== null && hiddenTexts === null;
  return html`${head({ itemId, run: run.name, userId, model: run.model.name }, links)} ${hiddenNote(hiddenTexts)}
    ${pairsHtml([
      ['question', question === null || question === '' ? missing : { text: question, most: MAX_BYTES }],
      ['gold', hasGold || (gold !== null && gold !== '') ? goldContent(gold, MAX_BYTES) : missing],
      ...(category === null || category === '' ? [] : ([['kind', category]] as const)),
    ])}
    ${armsTable(turns, outcomeColumns(unknownQuality(run.model) === null, turns))}
    ${turns.length > MAX_TURNS ? html`<p class="note">… ${turns.length - MAX_TURNS} more turns.</p>` : ''}
    <p class="note">
      A report has only outcomes of turns. Prompts, KV and probabilities are in the database of the run:
      <code>npx dki-bench inspect --db FILE</code>.
    </p>`;
}

function outcomeColumns(judged: boolean, turns: readonly TurnOutcome[]): ListColumn<TurnOutcome>[] {
  const outcome = (turn: TurnOutcome): Html => {
    const look = !judged ? 'soft' : isRight([turn]) ? 'good' : 'bad';
    const mark = outcomeMarks[armOutcome([turn], judged)];
    return html`<span class="${look}">${mark} ${outcomeText([turn], judged)}</span>`;
  };
  const number = (heading: string, digits: number, value: (turn: TurnOutcome) => number | null) => ({
    heading,
    look: 'right',
    cell: (turn: TurnOutcome) => formatNumber(value(turn) ?? NaN, digits),
  });
  return [
    { heading: 'arm', cell: ({ arm }) => printable(arm) },
    ...placeColumn(turns),
    { heading: 'answer', look: 'cut', cell: ({ error, answer }) => longText(error ?? answer, MAX_BYTES) },
    { heading: 'outcome', cell: outcome },
    number('prompt', 0, ({ promptTokens }) => promptTokens),
    number('KV resident', 0, ({ kvResidentTokens }) => kvResidentTokens),
    number('evaluated', 0, ({ evaluatedTokens }) => evaluatedTokens),
    number('generated', 0, ({ generatedTokens }) => generatedTokens),
    number('TTFT, ms', 1, ({ firstTokenMs }) => firstTokenMs),
    number('total, ms', 1, ({ totalMs }) => totalMs),
  ];
}
