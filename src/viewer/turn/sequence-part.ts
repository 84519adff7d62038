import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { kindOf, labelOf, type PlacedSegment, placedSegments, type SegmentKind } from './placed-segments.ts';
import { cutForPage, cutMark, leftOut } from './shown-text.ts';
import { type TokenSpan, tokenSpans } from './token-spans.ts';

/** More would make the page too large. */
const MOST_SEGMENTS = 150;
const MOST_BYTES = 45_000;
const MOST_TOKENS = 2000;

const kinds: readonly SegmentKind[] = ['system', 'memory', 'history', 'query'];
const origins = { evaluated: 'evaluated', injected: 'K/V injected' } as const;

/** Tokens as marked stretches of the text, with ids that the reader can switch on. */
function tokens(spans: readonly TokenSpan[]): Html[] {
  return spans.map(({ text, ids }) => html`<i>${printable(text)}<sub>${ids.join(' ')}</sub></i>`);
}

/** The bytes and tokens that the page may still take. */
class PageBudget {
  #bytes = MOST_BYTES;
  #tokens = MOST_TOKENS;
  tokensLeftOut = false;

  text({ text, tokenIds }: PlacedSegment, pieces: ReadonlyMap<number, string>): Html {
    const cut = cutForPage(text, this.#bytes);
    this.#bytes -= Buffer.byteLength(cut.text);
    if (cut.left > 0) {
      this.#bytes = 0;
      this.#tokens = 0;
      return html`${printable(cut.text)}${cutMark(cut.left)}`;
    }
    if (pieces.size === 0) return html`${printable(text)}`;
    this.#tokens -= tokenIds.length;
    if (this.#tokens < 0) {
      this.tokensLeftOut = true;
      return html`${printable(text)}`;
    }
    return html`${tokens(tokenSpans(text, tokenIds, pieces))}`;
  }
}

function segmentItem(segment: PlacedSegment, left: PageBudget, pieces: ReadonlyMap<number, string>): Html {
  const { role, cell, position, tokenIds, origin } = segment;
  const count = `${tokenIds.length} token${tokenIds.length === 1 ? '' : 's'}`;
  const place = cell === position ? `from ${cell}` : `from cell ${cell}, position ${position}`;
  return html`<li class="${kindOf(role)} ${origin}">
    <p class="name"><strong>${printable(labelOf(segment))}</strong> ${count} ${place} · ${origins[origin]}</p>
    <p class="text">${left.text(segment, pieces)}</p>
  </li> `;
}

/** Section with the final sequence as coloured segments, and a switch for boundaries and ids of its tokens. */
export function sequencePart(turn: AnsweredTurn, pieces: ReadonlyMap<number, string>): Html {
  const segments = placedSegments(turn);
  const all = segments.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  const left = new PageBudget();
  const present = kinds.filter((kind) => segments.some(({ role }) => kindOf(role) === kind));
  const items = segments.slice(0, MOST_SEGMENTS).map((segment) => segmentItem(segment, left, pieces));
  return html`<section class="sequence-part" aria-labelledby="sequence">
    <h2 id="sequence">The final sequence, ${all} tokens</h2>
    <ul class="legend">
      ${present.map((kind) => html`<li><span class="swatch ${kind}"></span>${kind === 'memory' ? 'memories' : kind}</li> `)}
      ${segments.some(({ origin }) => origin === 'injected') ? html`<li><span class="swatch injected"></span>double edge: K/V injected</li>` : ''}
    </ul>
    ${
      pieces.size === 0
        ? html`<p class="soft">Token boundaries: not recorded in this run, or hidden with its texts.</p>`
        : html`<input type="checkbox" id="show-tokens" class="show-tokens" /><label for="show-tokens"
              >Show token boundaries and ids</label
            >`
    }
    <ol class="sequence">
      ${items}
    </ol>
    ${leftOut(MOST_SEGMENTS, segments.length, 'segments')}
    ${left.tokensLeftOut ? html`<p class="note">Boundaries are shown for the first segments only; all ids are in the raw JSON.</p>` : ''}
  </section>`;
}
