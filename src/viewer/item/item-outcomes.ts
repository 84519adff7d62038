import { html } from 'hono/html';
import type { BenchDatabase } from '../../store/database.ts';
import { TurnListRepository, type TurnOutcome } from '../../store/turn-list-repository.ts';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import { runNamed, unknownName } from '../find-run.ts';
import { type HiddenTexts, hiddenInReports, hiddenNote } from '../hidden-texts.ts';
import type { Links } from '../links.ts';
import { isRight, outcomeInWords, outcomeMarks, outcomeOf } from '../matrix/outcome.ts';
import { matrixRow } from '../matrix/matrix-page.ts';
import { longText, pairsHtml } from '../../render/section-html.ts';
import { formatNumber } from '../../render/table.ts';
import { type ListColumn, listTable } from '../list.ts';
import { goldContent } from '../turn/turn-sections.ts';
import { MOST_TURNS, placeColumn } from './item-page.ts';

const MOST_BYTES = 400;

/** Reads an item of a report. @param hidden by default the rule of reports @throws BenchError `not-found` for an unknown name */
export function readItemOutcomes(
  database: BenchDatabase,
  runName: string,
  itemId: string,
  hidden: HiddenTexts = hiddenInReports,
) {
  const run = runNamed(database, runName);
  const turns = new TurnListRepository(database).outcomes(run.id, [itemId]);
  const [first] = turns;
  if (first === undefined) {
    throw unknownName(`run "${run.name}" has no item`, itemId, new TurnListRepository(database).items(run.id));
  }
  const hiddenTexts = hidden(run);
  return {
    ...matrixRow(itemId, turns, hiddenTexts !== null),
    run: run.name,
    model: run.model.name,
    userId: first.userId,
    category: first.category,
    hiddenTexts,
    unknownQuality: unknownQuality(run.model),
  };
}

/** An item of a report: the outcomes of its turns, which the report does not hold. */
export type ItemOutcomes = ReturnType<typeof readItemOutcomes>;

function columns(judged: boolean, turns: readonly TurnOutcome[]): ListColumn<TurnOutcome>[] {
  const outcome = (turn: TurnOutcome): Html => {
    const look = !judged ? 'soft' : isRight([turn]) ? 'good' : 'bad';
    const mark = outcomeMarks[outcomeOf([turn], judged)];
    return html`<span class="${look}">${mark} ${outcomeInWords([turn], judged)}</span>`;
  };
  const number = (heading: string, digits: number, of: (turn: TurnOutcome) => number | null) => ({
    heading,
    look: 'right',
    cell: (turn: TurnOutcome) => formatNumber(of(turn) ?? NaN, digits),
  });
  return [
    { heading: 'arm', cell: ({ arm }) => printable(arm) },
    ...placeColumn(turns),
    { heading: 'answer', look: 'cut', cell: ({ error, answer }) => longText(error ?? answer, MOST_BYTES) },
    { heading: 'outcome', cell: outcome },
    number('prompt', 0, ({ promptTokens }) => promptTokens),
    number('KV resident', 0, ({ kvResidentTokens }) => kvResidentTokens),
    number('evaluated', 0, ({ evaluatedTokens }) => evaluatedTokens),
    number('generated', 0, ({ generatedTokens }) => generatedTokens),
    number('TTFT, ms', 1, ({ firstTokenMs }) => firstTokenMs),
    number('total, ms', 1, ({ totalMs }) => totalMs),
  ];
}

/** The page of an item of a report: question, gold and the answers of all arms. */
export function itemOutcomesPage(model: ItemOutcomes, links: Links): Html {
  const { itemId, run, userId, question, gold, category, hiddenTexts } = model;
  const turns = [...model.turns.values()].flat();
  const missing = { text: 'not in the report', look: 'soft' } as const;
  const hasGold = question !== null && hiddenTexts === null;
  return html`<h1>Item ${printable(itemId)}</h1>
    <p class="lead">
      Run <a href="${links.run(run)}">${printable(run)}</a> · user ${printable(userId)} · model
      ${printable(model.model)}
    </p>
    ${hiddenNote(hiddenTexts)}
    ${pairsHtml([
      ['question', question === null || question === '' ? missing : { text: question, most: MOST_BYTES }],
      ['gold', hasGold || (gold !== null && gold !== '') ? goldContent(gold, MOST_BYTES) : missing],
      ...(category === null || category === '' ? [] : ([['kind', category]] as const)),
    ])}
    ${listTable('Table of the arms', 'arms', columns(model.unknownQuality === null, turns), turns.slice(0, MOST_TURNS))}
    ${turns.length > MOST_TURNS ? html`<p class="note">… ${turns.length - MOST_TURNS} more turns.</p>` : ''}
    <p class="note">
      A report holds the outcomes of turns. Prompts, KV and probabilities are in the database of the run:
      <code>npx dki-bench inspect --db FILE</code>.
    </p>`;
}
