import { html } from 'hono/html';
import type { Html } from '../../render/html.ts';
import { printable, printableJson } from '../../render/escape-control-characters.ts';
import { shellWord } from '../../render/shell-word.ts';
import { longText, sectionHtml } from '../../render/section-html.ts';
import { hiddenNote, type HiddenTexts, hiddenInReports } from '../hidden-texts.ts';
import type { Links, TurnRef } from '../links.ts';
import { differenceSection, differenceSummary } from './sequence-difference.ts';
import { failureText, turnSections } from './turn-sections.ts';
import { BenchError, unknownNameError } from '../../base/bench-error.ts';
import type { BenchDatabase } from '../../store/database.ts';
import { AttributionRepository } from '../../store/attribution-repository.ts';
import { TokenPieceRepository } from '../../store/token-piece-repository.ts';
import { TurnListRepository } from '../../store/turn-list-repository.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import { metricsOfRun } from '../../eval/analysis/metrics/metric-selection.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';
import { redactTurn } from '../../eval/analysis/redact-turn.ts';
import { findRunByName } from '../../eval/analysis/results-from-stored-turns.ts';
import { type AnsweredDisplayTurn, type DisplayTurn, turnForDisplay } from '../turn-scores-for-display.ts';

/** Reads what the page of a turn shows about its run; `hiddenTexts`: why hashes replace texts, or null. @throws BenchError `not-found` */
export function turnPageRun(database: BenchDatabase, runName: string, hidden: HiddenTexts) {
  const run = findRunByName(database, runName);
  const { id, name, suite, model, dataset, plan } = run;
  return {
    ...{ id, name, suite },
    model: { name: model.name, sha256: model.sha256 },
    metrics: metricsOfRun({ dataset, ...plan }),
    // Includes arms that have no turns yet.
    arms: plan.arms,
    hiddenTexts: hidden(run),
  };
}

type TurnPageRun = ReturnType<typeof turnPageRun>;

/** The turns of an item, sorted by arm in the order of the plan, repeat and turn. @throws BenchError `not-found` for an unknown item */
export function turnsOfItem(database: BenchDatabase, { id, name, arms, hiddenTexts }: TurnPageRun, item: string) {
  const stored = [...new TurnRepository(database).listByRun(id, { itemId: item })];
  const rows = hiddenTexts === null ? stored : stored.map(redactTurn);
  const known = () => new TurnListRepository(database).items(id);
  if (rows.length === 0) throw unknownNameError(`run "${name}" has no item`, item, known());
  const place = ({ arm }: (typeof rows)[number]) => arms.findIndex((one) => one.name === arm);
  return rows.sort((a, b) => place(a) - place(b) || a.repeat - b.repeat || a.turn - b.turn);
}

/**
 * Reads a turn and everything that its page shows.
 * @param against arm to compare the sequence with; default: the arm that gives the same memories as text
 * @throws BenchError `not-found` for an unknown name, `database` for a row that cannot be read
 */
export function readTurnPage(database: BenchDatabase, ref: TurnRef, against?: string, hidden = hiddenInReports) {
  const run = turnPageRun(database, ref.run, hidden);
  const rows = turnsOfItem(database, run, ref.item);
  const quality = unknownQuality(run.model);
  const siblings = rows.map(({ id: _, ...row }): DisplayTurn =>
    row.state === 'failed' ? row : turnForDisplay(row, quality, run.metrics),
  );
  const find = (arm: string): DisplayTurn => {
    const ofArm = siblings.filter((one) => one.arm === arm);
    const turn = ofArm.find((one) => one.repeat === ref.repeat && one.turn === ref.turn);
    if (turn !== undefined) return turn;
    if (ofArm.length === 0) {
      throw unknownNameError(`run "${run.name}" has no arm`, arm, [...new Set(siblings.map((one) => one.arm))]);
    }
    const message = `item ${ref.item} has no turn ${ref.turn} of ${arm} in repeat ${ref.repeat}`;
    const others = ofArm.map(({ repeat, turn: number }) => `turn ${number} of repeat ${repeat}`);
    throw new BenchError('not-found', message, `it has ${others.join(', ')}`);
  };
  const turn = find(ref.arm);
  const rag = answeredOther(turn, comparedByDefault(turn, siblings, run.arms));
  const compared = against === undefined ? rag : answeredOther(turn, find(against));
  return {
    run,
    turn,
    siblings,
    rag,
    against: compared,
    attribution: new AttributionRepository(database).find(rows[siblings.indexOf(turn)]!.id),
    // Redacted ids are negative hashes, which match no piece.
    pieces: new TokenPieceRepository(database).find(run.model.sha256, [turn, compared].flatMap(promptIds)),
  };
}

/**
 * Everything that the page of a turn shows:
 * - `siblings`: all turns on the item, including this one
 * - `rag`: the turn of the arm that gives the same memories as text; undefined if it did not run, failed, or is this turn
 * - `against`: the turn to compare the sequence with
 * - `pieces`: texts of the tokens of `turn` and `against` by id; empty if not recorded or hidden
 */
export type TurnModel = ReturnType<typeof readTurnPage>;

/** The same turn of the arm's reference. Without one: of the baseline, unless the arm is the baseline with other settings. */
function comparedByDefault(
  { arm, repeat, turn }: DisplayTurn,
  siblings: readonly DisplayTurn[],
  arms: readonly ArmTraits[],
): DisplayTurn | undefined {
  const own = arms.find(({ name }) => name === arm);
  const baseline = arms.find(({ comparison }) => comparison === 'baseline');
  const name = own?.reference ?? (own?.base === baseline?.base ? undefined : baseline?.name);
  return siblings.find((one) => one.repeat === repeat && one.turn === turn && one.arm === name);
}

function answeredOther(turn: DisplayTurn, other: DisplayTurn | undefined): AnsweredDisplayTurn | undefined {
  return other === undefined || other === turn || other.state === 'failed' ? undefined : other;
}

function promptIds(turn: DisplayTurn | undefined): number[] {
  return turn?.state === 'answered' ? turn.prompt.segments.flatMap(({ tokenIds }) => tokenIds) : [];
}

function reference(run: TurnPageRun, { itemId, arm, repeat, turn }: DisplayTurn): TurnRef {
  return { run: run.name, item: itemId, arm, repeat, turn };
}

const MAX_SIBLINGS = 60;

/** The page of a turn. @param places command-line options that name the database; empty for the default database */
export function turnPage(model: TurnModel, links: Links, places: readonly string[] = []): Html {
  const { run, turn } = model;
  const { itemId, userId, arm, repeat, turn: number } = turn;
  const ref = reference(run, turn);
  return html`<h1>${printable(arm)} <span class="soft">on</span> ${printable(itemId)}</h1>
    <p class="lead">
      Run ${printable(run.name)} · <a href="${links.item(run.name, itemId)}">item ${printable(itemId)}</a> · user
      ${printable(userId)} · repeat ${repeat} · turn ${number} · model ${printable(run.model.name)}
    </p>
    ${hiddenNote(run.hiddenTexts)} ${siblings(model, links)} ${contents(model, links)}
    <section aria-labelledby="reproduce">
      <h2 id="reproduce">Reproduce</h2>
      <p>The same turn in the terminal:</p>
      <pre><code>${printable(printCommand(ref, places))}</code></pre>
      <p><a href="${links.turnJson(ref)}">Raw JSON</a></p>
    </section>`;
}

function contents(model: TurnModel, links: Links): Html {
  const { turn } = model;
  if (turn.state === 'failed') {
    return html`<section aria-labelledby="failed">
      <h2 id="failed">Failed</h2>
      <p class="bad text">${longText(failureText(turn), 4000)}</p>
    </section>`;
  }
  return html`<div class="sections">${turnSections(turn, model).map(sectionHtml)}</div>
    ${difference(model, links)}`;
}

/** The difference to the sequence of another arm, with links to compare with other arms; an export has only one comparison. */
function difference({ run, turn, against, siblings: all, pieces }: TurnModel, links: Links): Html | string {
  const ref = reference(run, turn);
  const others = all.filter(
    (one) => one.arm !== turn.arm && one.repeat === turn.repeat && one.turn === turn.turn && one.state === 'answered',
  );
  const sections =
    against === undefined || turn.state === 'failed'
      ? []
      : [differenceSummary(turn, against), differenceSection(turn, against, pieces)];
  const link = ({ arm }: { readonly arm: string }): Html =>
    arm === against?.arm
      ? html`<strong aria-current="true">${printable(arm)}</strong>`
      : html`<a href="${links.turn(ref, arm)}#differences">${printable(arm)}</a>`;
  return html`${sections.map(sectionHtml)}
  ${
    !links.answered || others.length === 0
      ? ''
      : html`<nav aria-label="Compare the sequence with another arm">
          <ul>
            <li class="soft">Difference to</li>
            ${others.map((other) => html`<li>${link(other)}</li> `)}
          </ul>
        </nav>`
  }`;
}

function siblings({ run, turn, siblings: all }: TurnModel, links: Links): Html {
  const several = all.some(({ repeat, turn: number }) => repeat !== turn.repeat || number !== turn.turn);
  const shown = all.slice(0, MAX_SIBLINGS);
  return html`<nav aria-label="Turns on the same item" class="siblings">
    <ul>
      ${shown.map((one) => {
        const name = several ? `${one.arm} ${one.repeat}/${one.turn}` : one.arm;
        return html`<li>
          ${one === turn ? html`<strong aria-current="page">${printable(name)}</strong>` : html`<a data-open href="${links.turn(reference(run, one))}">${printable(name)}</a>`}
        </li> `;
      })}
      ${shown.length === all.length ? '' : html`<li class="soft">and ${all.length - shown.length} more on the page of the item</li>`}
    </ul>
  </nav>`;
}

function printCommand({ run, item, arm, repeat, turn }: TurnRef, places: readonly string[]): string {
  const numbers = [...(repeat === 0 ? [] : ['--repeat', `${repeat}`]), ...(turn === 0 ? [] : ['--turn', `${turn}`])];
  const words = ['--run', run, '--item', item, '--arm', arm, ...numbers, '--print', ...places];
  return `npx dki-bench inspect ${words.map(shellWord).join(' ')}`;
}

function turnDocument({ turn, pieces, attribution, rag }: TurnModel) {
  const ids = new Set(promptIds(turn));
  return {
    ...turn,
    pieces: Object.fromEntries([...pieces].filter(([id]) => ids.has(id))),
    attribution: attribution ?? null,
    ragNextTokens: rag?.observed.nextTokens ?? null,
  };
}

/**
 * Renders turns of one run as indented JSON that is safe to print:
 *
 * - `run`: `{ id, name, suite, model: { name, sha256 }, hiddenTexts }`; `hiddenTexts`: reason why hashes replace texts, or null
 * - `turns`: records of turns (`records/turn-record.ts`) with these fields added
 *   - `unknownQuality`: reason why scores are hidden, or null; missing for a `failed` turn
 *   - `shownScores`: `{ metric, label, unit, value }` of each score, primary metric first
 *   - `pieces`: texts of tokens by token id; empty if the run did not record them
 *   - `attribution`: leave-one-out attribution of the answer, or null if it was not computed
 *   - `ragNextTokens`: likeliest next tokens of the arm that gives the same memories as text, or null
 */
export function turnsJson([first, ...others]: readonly [TurnModel, ...TurnModel[]]): string {
  const { id, name, suite, model, hiddenTexts } = first.run;
  return printableJson({ run: { id, name, suite, model, hiddenTexts }, turns: [first, ...others].map(turnDocument) });
}
