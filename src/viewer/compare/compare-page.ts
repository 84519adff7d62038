import { html } from 'hono/html';
import type { ItemPair, ItemSide } from '../../store/item-pair-repository.ts';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import { formatNumber } from '../../render/table.ts';
import type { ArmRef, Links } from '../links.ts';
import { listText } from '../../render/cut-text.ts';
import { hiddenNote } from '../hidden-texts.ts';
import { goldText } from '../run/item-list.ts';
import type { SuccessDifference } from './paired-arms.ts';
import type { ComparisonPage } from './read-comparison.ts';

function outcome({ a, b }: ItemPair, judged: boolean): Html {
  if (judged && a.success !== null && b.success !== null && a.success !== b.success) {
    return a.success > b.success ? html`<b class="good">+ won</b>` : html`<b class="bad">− lost</b>`;
  }
  if (a.answer !== b.answer) return html`reworded`;
  return html`<span class="soft">same</span>`;
}

function side(href: string, { answer, error, success, repeats }: ItemSide, judged: boolean): Html {
  const scored = judged && success !== null;
  const share = repeats > 1 && scored ? ` (right in ${formatNumber(success * 100, 0)} % of ${repeats})` : '';
  const right = !scored ? '' : success === 1 ? html`<b class="good">✓</b> ` : html`<b class="bad">✗</b> `;
  return html`<td class="cut">
    ${right}<a href="${href}"
      >${error === null ? (answer === '' ? '(empty)' : listText(answer)) : `error: ${listText(error)}`}</a
    >${share}
  </td>`;
}

function row({ a, b, unknownQuality }: ComparisonPage, pair: ItemPair, links: Links): Html {
  const { itemId, question, gold } = pair;
  const judged = unknownQuality === null;
  const sameTurn = pair.a.repeat === pair.b.repeat && pair.a.turn === pair.b.turn;
  const turn = ({ run, arm }: ArmRef, { repeat, turn: number }: ItemSide, other: ArmRef) =>
    links.turn(
      { run, item: itemId, arm, repeat, turn: number },
      run === other.run && sameTurn ? { against: other.arm } : {},
    );
  const beside =
    links.opensTurns && a.run === b.run && sameTurn && pair.a.error === null && pair.b.error === null
      ? html` <a
          href="${links.pair({ run: a.run, item: itemId, arm: a.arm, repeat: pair.a.repeat, turn: pair.a.turn }, b.arm)}"
          >side by side</a
        >`
      : '';
  return html`<tr>
    <th scope="row"><a data-open href="${links.item(a.run, itemId)}">${printable(itemId)}</a>${beside}</th>
    <td>${outcome(pair, judged)}</td>
    <td class="cut">${question === null ? '' : listText(question)}</td>
    <td class="cut">${goldText(gold, question)}</td>
    ${side(turn(a, pair.a, b), pair.a, judged)} ${side(turn(b, pair.b, a), pair.b, judged)}
  </tr> `;
}

function chooser({ a, b, forced }: ComparisonPage): Html {
  const select = (name: string, label: string, { arm, arms }: ComparisonPage['a']) =>
    html`<label
      >${label}
      <select name="${name}">
        ${arms.map((known) => html`<option value="${known}" ${known === arm ? 'selected' : ''}>${printable(known)}</option>`)}
      </select></label
    >`;
  return html`<form class="filters" method="get" action="/compare">
    <input type="hidden" name="a" value="${a.run}" /><input type="hidden" name="b" value="${b.run}" />
    ${forced.length === 0 ? '' : html`<input type="hidden" name="force" value="1" />`}
    ${select('armA', `A: arm of ${printable(a.run)}`, a)} ${select('armB', `B: arm of ${printable(b.run)}`, b)}
    <button>Compare</button>
  </form>`;
}

/** The mean difference in points, with its interval. */
function difference({ meanA, meanB, delta, interval, n, users }: SuccessDifference): Html {
  const points = (share: number): string => formatNumber(share * 100, 1);
  const bounds =
    interval === null
      ? ', answers and probabilities of the gold alike on every item'
      : ` [${points(interval.low)}, ${points(interval.high)}]`;
  const over = users === 1 ? 'the questions of one user' : `${users} users`;
  return html`<p>
    Task success: A ${points(meanA)} %, B ${points(meanB)} %; difference <b>${points(delta)} points</b>${bounds}
    <span class="soft">(mean over ${n} ${n === 1 ? 'item' : 'items'} paired; 95 % interval over ${over})</span>
  </p>`;
}

function summary({ a, b, counts, difference: success, unknownQuality, forced }: ComparisonPage): Html {
  const { items, wins, losses, reworded, onlyA, onlyB } = counts;
  const judged = `${wins} won, ${losses} lost, ${items - wins - losses} tied, ${reworded} of these reworded`;
  const alone = [
    ...(onlyA > 0 ? [`${onlyA} items only in A`] : []),
    ...(onlyB > 0 ? [`${onlyB} items only in B`] : []),
  ];
  return html`<p class="lead">
      A is <b>${printable(a.arm)}</b> of <b>${printable(a.run)}</b>, B is <b>${printable(b.arm)}</b> of
      <b>${printable(b.run)}</b>. ${items} items in common${unknownQuality === null ? `: ${judged}` : ''}.
      ${alone.length === 0 ? '' : `${alone.join(', ')}.`}
    </p>
    ${success === null ? '' : difference(success)}
    ${unknownQuality === null ? '' : html`<p class="note">Answers are not judged: ${printable(unknownQuality)}.</p>`}
    ${forced.map(
      ({ what, a: ofA, b: ofB }) =>
        html`<p class="verdict failed">
          <strong>FORCED: the runs differ in ${what}: ${printable(ofA)} / ${printable(ofB)}</strong>
        </p>`,
    )}`;
}

/** The page that compares two arms, of one run or of two, item by item: flips first. */
export function comparePage(model: ComparisonPage, links: Links): Html {
  const { a, b, pairs, page, pages, forced, hiddenTexts } = model;
  const options = forced.length === 0 ? {} : { force: true as const };
  const to = (text: string, number: number) =>
    html`<li><a href="${links.compare(a, b, { ...options, page: number })}">${text}</a></li>`;
  return html`<h1>Compare ${printable(a.arm)} with ${printable(b.arm)}</h1>
    ${summary(model)} ${hiddenNote(hiddenTexts)} ${links.answered ? chooser(model) : ''}
    <nav class="pages" aria-label="Pages of the list">
      <span role="status">Page ${page} of ${pages}</span>
      <ul>
        ${page > 1 ? to('Previous', page - 1) : ''} ${page < pages ? to('Next', page + 1) : ''}
        <li><a href="${links.compare(b, a, options)}">Swap A and B</a></li>
      </ul>
    </nav>
    <div class="scroll" role="region" aria-label="Items" tabindex="0">
      <table class="list">
        <thead>
          <tr>
            <th scope="col">item</th>
            <th scope="col">A against B</th>
            <th scope="col">question</th>
            <th scope="col">gold</th>
            <th scope="col">A: ${printable(a.arm)}</th>
            <th scope="col">B: ${printable(b.arm)}</th>
          </tr>
        </thead>
        <tbody>
          ${pairs.map((pair) => row(model, pair, links))}
        </tbody>
      </table>
    </div>`;
}
