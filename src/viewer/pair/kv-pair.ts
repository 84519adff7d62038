import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import { formatNumber } from '../../render/table.ts';
import { inBytes, kvSummary } from '../turn/kv-part.ts';
import { type KvPiece, kvPieces, originWords } from '../turn/kv-pieces.ts';
import { leftOut } from '../turn/shown-text.ts';
import { pairRow, pairTable } from './pair-row.ts';
import type { PairModel } from './read-pair.ts';

const MOST_PIECES = 60;

const nameOf = ({ memoryId, name }: KvPiece): string => memoryId ?? name;

function piece(one: KvPiece | undefined): Html {
  if (one === undefined) return html`<span class="soft">none</span>`;
  const { origin, tokens, position, sizeBytes, alpha, computeMs, key } = one;
  const took = origin === 'computed' ? ` in ${formatNumber(computeMs, 2)} ms` : '';
  return html`<span class="${origin === 'computed' ? 'computed' : 'cached'}">${originWords[origin]}${took}</span>,
    ${tokens} tokens at ${position}–${position + tokens - 1}, ${inBytes(sizeBytes)}, α ${formatNumber(alpha, 3)},
    <code title="${printable(key)}">${printable(key.slice(0, 12))}…</code>`;
}

const same = (a: KvPiece | undefined, b: KvPiece | undefined): boolean =>
  a?.key === b?.key && a?.position === b?.position && a?.origin === b?.origin;

/** Section with the K/V that each arm injected, block beside block. */
export function kvPair({ a, b }: PairModel): Html {
  const [ofA, ofB] = [kvPieces(a.prefill), kvPieces(b.prefill)];
  const names = [...new Set([...ofA, ...ofB].map(nameOf))];
  const named = (pieces: readonly KvPiece[], name: string) => pieces.find((one) => nameOf(one) === name);
  const rows = names.slice(0, MOST_PIECES).map((name) => {
    const [here, there] = [named(ofA, name), named(ofB, name)];
    return pairRow(printable(name), piece(here), piece(there), !same(here, there));
  });
  const summaries = [kvSummary(a), kvSummary(b)] as const;
  const all = pairRow('all', printable(summaries[0]), printable(summaries[1]), summaries[0] !== summaries[1]);
  return html`<section aria-labelledby="kv">
    <h2 id="kv">Keys and values</h2>
    ${pairTable('Keys and values', [printable(a.arm), printable(b.arm)], [all, ...rows], 'texts')}
    ${leftOut(MOST_PIECES, names.length, 'blocks')}
  </section>`;
}
