import { html } from 'hono/html';
import type { BenchDatabase } from '../../db/database.ts';
import { ItemOutcomesRepository, type TurnOutcome } from '../../db/item-outcomes-repository.ts';
import { TurnListRepository } from '../../db/turn-list-repository.ts';
import type { Html } from '../../report/html/html-table.ts';
import { printable } from '../../report/render/printable.ts';
import { formatNumber } from '../../report/table.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import { runNamed, unknownName } from '../find-run.ts';
import { type HiddenTexts, hiddenInReports, hiddenNote } from '../hidden-texts.ts';
import type { Links } from '../links.ts';
import { isRight, outcomeInWords, outcomeMarks, outcomeOf } from '../matrix/outcome.ts';
import { type MatrixRow, rowOf } from '../matrix/read-matrix.ts';
import { shownText } from '../turn/shown-text.ts';

const MOST_TURNS = 80;
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

function turnRow(turn: TurnOutcome, judged: boolean, several: boolean): Html {
  const { arm, repeat, turn: number, answer, error } = turn;
  const look = !judged ? 'soft' : isRight([turn]) ? 'good' : 'bad';
  const counts = [turn.promptTokens, turn.kvResidentTokens, turn.evaluatedTokens, turn.generatedTokens];
  const times = [turn.firstTokenMs, turn.totalMs];
  return html`<tr>
    <th scope="row">${printable(arm)}</th>
    ${several ? html`<td>${repeat} / ${number}</td>` : ''}
    <td class="cut">${shownText(error ?? answer, MOST_BYTES)}</td>
    <td>
      <span class="${look}">${outcomeMarks[outcomeOf([turn], judged)]} ${outcomeInWords([turn], judged)}</span>
    </td>
    ${counts.map((count) => html`<td class="right">${count ?? '–'}</td>`)}
    ${times.map((ms) => html`<td class="right">${ms === null ? '–' : formatNumber(ms, 1)}</td>`)}
  </tr> `;
}

/** The page of an item of a report: question, gold and the answers of all arms. */
export function itemOutcomesPage(model: ItemOutcomes, links: Links): Html {
  const { itemId, run, userId, question, gold, category, turns } = model;
  const all = [...turns.values()].flat();
  const several = new Set(all.map(({ repeat, turn }) => `${repeat}/${turn}`)).size > 1;
  const judged = model.unknownQuality === null;
  return html`<h1>Item ${printable(itemId)}</h1>
    <p class="lead">
      Run <a href="${links.run(run)}">${printable(run)}</a> · user ${printable(userId)} · model
      ${printable(model.model)}
    </p>
    ${hiddenNote(model.hiddenTexts)}
    <dl class="pairs">
      <dt>question</dt>
      <dd class="answer">
        ${question === null || question === '' ? html`<span class="soft">not in the report</span>` : shownText(question, MOST_BYTES)}
      </dd>
      <dt>gold</dt>
      <dd>
        ${gold !== null && gold !== '' ? shownText(gold, MOST_BYTES) : html`<span class="soft">${question === null || model.hiddenTexts !== null ? 'not in the report' : 'none: abstaining is right'}</span>`}
      </dd>
      ${
        category === null || category === ''
          ? ''
          : html`<dt>kind</dt>
              <dd>${printable(category)}</dd>`
      }
    </dl>
    <div class="scroll" role="region" aria-label="Table of the arms" tabindex="0">
      <table class="list arms">
        <thead>
          <tr>
            <th scope="col">arm</th>
            ${several ? html`<th scope="col">repeat / turn</th>` : ''}
            <th scope="col">answer</th>
            <th scope="col">outcome</th>
            <th scope="col" class="right">prompt</th>
            <th scope="col" class="right">K/V resident</th>
            <th scope="col" class="right">evaluated</th>
            <th scope="col" class="right">generated</th>
            <th scope="col" class="right">TTFT, ms</th>
            <th scope="col" class="right">total, ms</th>
          </tr>
        </thead>
        <tbody>
          ${all.slice(0, MOST_TURNS).map((turn) => turnRow(turn, judged, several))}
        </tbody>
      </table>
    </div>
    ${all.length <= MOST_TURNS ? '' : html`<p class="note">… ${all.length - MOST_TURNS} more turns.</p>`}
    <p class="note">
      A report holds the outcomes of turns. Prompts, K/V and probabilities are in the database of the run:
      <code>npx dki-bench inspect --db FILE</code>.
    </p>`;
}
