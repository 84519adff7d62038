import type { TokenSpan } from '../../render/section.ts';

const replacement = '\ufffd';
const LOOK_AHEAD = 8;
/** Longest group of tokens that is tried as one character; beyond it, the rest of the text becomes one span. */
const MAX_TOGETHER = 16;

function isWhole(piece: string | undefined): piece is string {
  return piece !== undefined && !piece.includes(replacement);
}

/** The length of a piece in the text; undefined if it does not match at the place. Some tokenisers omit a leading space. */
function lengthAt(text: string, place: number, piece: string): number | undefined {
  if (text.startsWith(piece, place)) return piece.length;
  return text.startsWith(` ${piece}`, place) ? piece.length + 1 : undefined;
}

type Pieces = ReadonlyMap<number, string>;

interface Cursor {
  readonly place: number;
  readonly token: number;
}

/** True if the text matches the next pieces, up to the first that is only a part of a character. */
function matches(text: string, ids: readonly number[], pieces: Pieces, { place, token }: Cursor): boolean {
  let at = place;
  for (const id of ids.slice(token, token + LOOK_AHEAD)) {
    const piece = pieces.get(id);
    if (!isWhole(piece)) return true;
    const length = lengthAt(text, at, piece);
    if (length === undefined) return false;
    at += length;
  }
  return true;
}

/**
 * Aligns token ids with their text. Tokens that share a character share a span, and so do tokens with unknown or mismatched
 * pieces, so that the spans always cover the whole text and every id.
 */
export function tokenSpans(text: string, ids: readonly number[], pieces: Pieces): TokenSpan[] {
  const spans: TokenSpan[] = [];
  let [place, token] = [0, 0];
  while (token < ids.length) {
    const piece = pieces.get(ids[token]!);
    const length = isWhole(piece) && piece !== '' ? lengthAt(text, place, piece) : undefined;
    const next =
      length === undefined
        ? groupEnd(text, ids, pieces, { place, token })
        : { place: place + length, token: token + 1 };
    spans.push({ text: text.slice(place, next.place), ids: ids.slice(token, next.token) });
    ({ place, token } = next);
  }
  if (place === text.length) return spans;
  const last = spans.at(-1) ?? { text: '', ids: [] };
  return [...spans.slice(0, -1), { text: last.text + text.slice(place), ids: last.ids }];
}

/** Finds the end of a group of tokens that share a span: the first place from which the text matches whole pieces again. */
function groupEnd(text: string, ids: readonly number[], pieces: Pieces, { place, token }: Cursor): Cursor {
  // A control token has no text.
  if (pieces.get(ids[token]!) === '') return { place, token: token + 1 };
  for (let end = token + 1; end < Math.min(ids.length, token + MAX_TOGETHER); end++) {
    const piece = pieces.get(ids[end]!);
    if (!isWhole(piece) || piece === '') continue;
    // A token holds at least one byte, so a group seldom spans more than four characters per token.
    let at = place;
    for (let characters = 0; characters <= 4 * (end - token) && at <= text.length; characters++) {
      if (characters > 0 && matches(text, ids, pieces, { place: at, token: end })) return { place: at, token: end };
      at += text.codePointAt(at)! > 0xffff ? 2 : 1;
    }
  }
  return { place: text.length, token: ids.length };
}
