import { html } from 'hono/html';
import type { BenchDatabase } from '../../store/database.ts';
import { ItemOutcomesRepository, type TurnOutcome } from '../../store/item-outcomes-repository.ts';
import { TurnListRepository } from '../../store/turn-list-repository.ts';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import { runNamed, unknownName } from '../find-run.ts';
import { type HiddenTexts, hiddenInReports, hiddenNote } from '../hidden-texts.ts';
import type { Links } from '../links.ts';
import { isRight, outcomeInWords, outcomeMarks, outcomeOf } from '../matrix/outcome.ts';
import { type MatrixRow, rowOf } from '../matrix/read-matrix.ts';
import { longText } from '../../render/section-html.ts';
import { type ArmColumn, armsTable, countColumn, timeColumn } from './arms-table.ts';

const MOST_BYTES = 400;

/** An item of a report: the outcomes of its turns, which the report does not hold. */
export interface ItemOutcomes extends MatrixRow {
  readonly run: string;
  readonly model: string;
  readonly userId: string;
  readonly category: string | null;
  readonly hiddenTexts: string | null;
  readonly unknownQuality: string | null;
}

/** Reads an item of a report. @param hidden by default the rule of reports @throws BenchError `not-found` for an unknown name */
export function readItemOutcomes(
  database: BenchDatabase,
  runName: string,
  itemId: string,
  hidden: HiddenTexts = hiddenInReports,
): ItemOutcomes {
  const run = runNamed(database, runName);
  const turns = new ItemOutcomesRepository(database).outcomes(run.id, [itemId]);
  const [first] = turns;
  if (first === undefined) {
    throw unknownName(`run "${run.name}" has no item`, itemId, new TurnListRepository(database).items(run.id));
  }
  const hiddenTexts = hidden(run);
  return {
    ...rowOf(itemId, turns, hiddenTexts !== null),
    ...{ run: run.name, model: run.model.name, userId: first.userId, category: first.category, hiddenTexts },
    unknownQuality: unknownQuality(run.model),
  };
}

function columnsOf(judged: boolean): readonly ArmColumn<TurnOutcome>[] {
  const outcome = (turn: TurnOutcome): Html => {
    const look = !judged ? 'soft' : isRight([turn]) ? 'good' : 'bad';
    return html`<span class="${look}"
      >${outcomeMarks[outcomeOf([turn], judged)]} ${outcomeInWords([turn], judged)}</span
    >`;
  };
  return [
    { heading: 'answer', look: 'cut', cell: ({ error, answer }) => longText(error ?? answer, MOST_BYTES) },
    { heading: 'outcome', cell: outcome },
    countColumn('prompt', ({ promptTokens }) => promptTokens),
    countColumn('KV resident', ({ kvResidentTokens }) => kvResidentTokens),
    countColumn('evaluated', ({ evaluatedTokens }) => evaluatedTokens),
    countColumn('generated', ({ generatedTokens }) => generatedTokens),
    timeColumn('TTFT', ({ firstTokenMs }) => firstTokenMs),
    timeColumn('total', ({ totalMs }) => totalMs),
  ];
}

/** The page of an item of a report: question, gold and the answers of all arms. */
export function itemOutcomesPage(model: ItemOutcomes, links: Links): Html {
  const { itemId, run, userId, question, gold, category, turns } = model;
  return html`<h1>Item ${printable(itemId)}</h1>
    <p class="lead">
      Run <a href="${links.run(run)}">${printable(run)}</a> · user ${printable(userId)} · model
      ${printable(model.model)}
    </p>
    ${hiddenNote(model.hiddenTexts)}
    <dl class="pairs">
      <dt>question</dt>
      <dd class="answer">
        ${question === null || question === '' ? html`<span class="soft">not in the report</span>` : longText(question, MOST_BYTES)}
      </dd>
      <dt>gold</dt>
      <dd>
        ${gold !== null && gold !== '' ? longText(gold, MOST_BYTES) : html`<span class="soft">${question === null || model.hiddenTexts !== null ? 'not in the report' : 'none: abstaining is right'}</span>`}
      </dd>
      ${
        category === null || category === ''
          ? ''
          : html`<dt>kind</dt>
              <dd>${printable(category)}</dd>`
      }
    </dl>
    ${armsTable({
      turns: [...turns.values()].flat(),
      name: ({ arm }) => printable(arm),
      columns: columnsOf(model.unknownQuality === null),
    })}
    <p class="note">
      A report holds the outcomes of turns. Prompts, KV and probabilities are in the database of the run:
      <code>npx dki-bench inspect --db FILE</code>.
    </p>`;
}
