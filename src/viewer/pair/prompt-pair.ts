import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import { labelOf, kindOf, type PlacedSegment, placedSegments } from '../turn/placed-segments.ts';
import { alignedSegments, changedSegment } from '../turn/sequence-difference.ts';
import { cutForPage, cutMark, leftOut } from '../turn/shown-text.ts';
import { type TokenSpan, tokenSpans } from '../turn/token-spans.ts';
import { pairRow, pairTable } from './pair-row.ts';
import type { PairModel } from './read-pair.ts';

const MOST_SEGMENTS = 60;
/** Of one segment on one side, or of each of its parts where they differ. */
const MOST_BYTES = 300;

const origins = { evaluated: 'as text', injected: 'as K/V' } as const;

const place = ({ tokenIds, cell, position, origin }: PlacedSegment): Html =>
  html`<small class="soft"
    >${tokenIds.length} token${tokenIds.length === 1 ? '' : 's'} from
    ${cell === position ? `position ${position}` : `cell ${cell}, position ${position}`}, ${origins[origin]}</small
  >`;

function shown(text: string): Html {
  const cut = cutForPage(text, MOST_BYTES);
  return html`${printable(cut.text)}${cutMark(cut.left)}`;
}

const textOf = (spans: readonly TokenSpan[]): Html => shown(spans.map(({ text }) => text).join(''));

function side(segment: PlacedSegment | undefined, text: Html): Html {
  if (segment === undefined) return html`<span class="soft">not there</span>`;
  return html`<div class="segment ${kindOf(segment.role)} ${segment.origin}">
    <p class="text">${text}</p>
    ${place(segment)}
  </div>`;
}

function segmentRow(a: PlacedSegment | undefined, b: PlacedSegment | undefined, pieces: PairModel['pieces']): Html {
  const name = printable(labelOf((a ?? b)!));
  if (a === undefined || b === undefined) {
    return pairRow(name, side(a, shown(a?.text ?? '')), side(b, shown(b?.text ?? '')), true);
  }
  const isSame = a.tokenIds.join() === b.tokenIds.join();
  if (isSame) {
    const text = shown(a.text);
    return pairRow(name, side(a, text), side(b, text), a.position !== b.position || a.origin !== b.origin);
  }
  const spansOf = ({ text, tokenIds }: PlacedSegment): TokenSpan[] =>
    pieces.size === 0 ? [{ text, ids: tokenIds }] : tokenSpans(text, tokenIds, pieces);
  const { before, here, there, after } = changedSegment(name, spansOf(a), spansOf(b));
  const marked = (own: readonly TokenSpan[]): Html =>
    html`${textOf(before)}<mark>${textOf(own)}</mark>${textOf(after)}`;
  return pairRow(name, side(a, marked(here)), side(b, marked(there)), true);
}

/** Section with both prompts, segment beside segment, what differs marked. */
export function promptPair({ a, b, pieces }: PairModel): Html {
  const segments = alignedSegments(placedSegments(a), placedSegments(b));
  const rows = segments.slice(0, MOST_SEGMENTS).map(([here, there]) => segmentRow(here, there, pieces));
  return html`<section aria-labelledby="prompt">
    <h2 id="prompt">Prompts</h2>
    ${pairTable('Prompts', [printable(a.arm), printable(b.arm)], rows, 'texts')}
    ${leftOut(MOST_SEGMENTS, segments.length, 'segments')}
  </section>`;
}
