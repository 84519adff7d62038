import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { quoted } from '../../report/html/reproduce.ts';
import { printable } from '../../render/printable.ts';
import type { Links, TurnRef } from '../links.ts';
import { hiddenNote } from '../hidden-texts.ts';
import { failureInWords } from './answer-in-words.ts';
import { answerPart } from './answer-part.ts';
import { budgetPart } from './budget-part.ts';
import { checksPart } from './checks-part.ts';
import { differencePart } from './difference-part.ts';
import { kvPart } from './kv-part.ts';
import { memoriesPart } from './memories-part.ts';
import { modelPart } from './model-part.ts';
import { refOf, type TurnModel } from './read-turn.ts';
import { sequencePart } from './sequence-part.ts';
import { shownText } from './shown-text.ts';
import { timingsPart } from './timings-part.ts';

const MOST_SIBLINGS = 60;

/** Options of the page of a turn. */
export interface TurnPageOptions {
  /** Starts a leave-one-out attribution, if one can be computed. */
  readonly attributionForm?: Html | undefined;
  /** Options of a command that name the database, if it is not the default one. */
  readonly places?: readonly string[] | undefined;
}

/** The command that shows a stored turn in the terminal. */
function reproduceCommand({ run, item, arm, repeat, turn }: TurnRef, places: readonly string[]): string {
  const options: readonly (readonly [string, string])[] = [
    ['--run', run],
    ['--item', item],
    ['--arm', arm],
    ...(repeat === 0 ? [] : ([['--repeat', String(repeat)]] as const)),
    ...(turn === 0 ? [] : ([['--turn', String(turn)]] as const)),
  ];
  const words = [...options.flat(), '--print', ...places];
  return `npx dki-bench inspect ${words.map(quoted).join(' ')}`;
}

/** The page of a turn: the sequence that the model was given, its answer, and the cost. */
export function turnPage(model: TurnModel, links: Links, { attributionForm, places = [] }: TurnPageOptions = {}): Html {
  const { run, turn } = model;
  const { itemId, userId, arm, repeat, turn: number } = turn;
  return html`<h1>${printable(arm)} <span class="soft">on</span> ${printable(itemId)}</h1>
    <p class="lead">
      Run ${printable(run.name)} · <a href="${links.item(run.name, itemId)}">item ${printable(itemId)}</a> · user
      ${printable(userId)} · repeat ${repeat} · turn ${number} · model ${printable(run.model.name)}
    </p>
    ${hiddenNote(run.hiddenTexts)} ${siblings(model, links)} ${contents(model, links, attributionForm)}
    <section aria-labelledby="reproduce">
      <h2 id="reproduce">Reproduce</h2>
      <p>The same turn in the terminal:</p>
      <pre><code>${printable(reproduceCommand(refOf(run, turn), places))}</code></pre>
      <p><a href="${links.turnJson(refOf(run, turn))}">Raw JSON</a></p>
    </section>`;
}

function contents({ turn, rag, attribution, pieces, ...model }: TurnModel, links: Links, form: Html | undefined): Html {
  if (turn.state === 'failed') {
    return html`<section aria-labelledby="failed">
      <h2 id="failed">Failed</h2>
      <p class="bad text">${shownText(failureInWords(turn), 4000)}</p>
    </section>`;
  }
  return html`${answerPart(turn)} ${sequencePart(turn, pieces)} ${kvPart(turn)} ${budgetPart(turn)}
    ${memoriesPart(turn, attribution)} ${form ?? ''}
    <div class="beside">${timingsPart(turn)} ${modelPart(turn, rag)}</div>
    ${differencePart({ ...model, turn, rag, attribution, pieces }, links)} ${checksPart(turn)}`;
}

/** Links to the other turns on the item. */
function siblings({ run, turn, siblings: all }: TurnModel, links: Links): Html {
  const several = all.some(({ repeat, turn: number }) => repeat !== turn.repeat || number !== turn.turn);
  const shown = all.slice(0, MOST_SIBLINGS);
  return html`<nav aria-label="Turns on the same item" class="siblings">
    <ul>
      ${shown.map((one) => {
        const name = several ? `${one.arm} ${one.repeat}/${one.turn}` : one.arm;
        return html`<li>
          ${one === turn ? html`<strong aria-current="page">${printable(name)}</strong>` : html`<a data-open href="${links.turn(refOf(run, one))}">${printable(name)}</a>`}
        </li> `;
      })}
      ${shown.length === all.length ? '' : html`<li class="soft">and ${all.length - shown.length} more on the page of the item</li>`}
    </ul>
  </nav>`;
}
