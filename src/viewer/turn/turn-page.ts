import { html } from 'hono/html';
import type { Html } from '../../render/html.ts';
import { printable } from '../../render/escape-control-characters.ts';
import type { Section } from '../../render/section.ts';
import { shellWord } from '../../render/shell-word.ts';
import { longText, sectionHtml } from '../../render/section-html.ts';
import { hiddenNote } from '../hidden-texts.ts';
import type { Links, TurnRef } from '../links.ts';
import { differenceSection, turnDifferences } from './difference-section.ts';
import { reference, type TurnModel } from './read-turn-page.ts';
import { failureText, turnSections } from './turn-sections.ts';

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
  const sections: Section[] = [];
  if (against !== undefined && turn.state === 'answered') {
    const summary = turnDifferences(turn, against);
    // Its list of segments is for the terminal: the next section has all of them.
    sections.push({ ...summary, blocks: summary.blocks.slice(0, 1) }, differenceSection(turn, against, pieces));
  }
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
