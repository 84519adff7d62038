import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';
import { printable } from '../../render/printable.ts';
import { formatNumber } from '../../render/table.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { kvPieces, originWords } from './kv-pieces.ts';
import { leftOut } from './shown-text.ts';

const MOST_PIECES = 60;

/** Bytes for readers: `132.1 KiB`. */
export function inBytes(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  return bytes < 2 ** 20 ? `${formatNumber(bytes / 1024, 1)} KiB` : `${formatNumber(bytes / 2 ** 20, 1)} MiB`;
}

/** The use of K/V in a turn, in a sentence. */
export function kvSummary({ prefill, tokens, account }: AnsweredTurn): string {
  if (prefill === null) {
    const nothing = 'Nothing was injected: the whole sequence was given as text.';
    return tokens.kvResident === 0
      ? nothing
      : `${nothing} The K/V of ${tokens.kvResident} of its tokens was kept from an earlier prompt.`;
  }
  const parts = [
    `Strategy ${prefill.strategy}`,
    `α ${formatNumber(prefill.alpha, 3)}`,
    `${inBytes(prefill.sizeBytes)} loaded`,
    `${tokens.kvResident} cells filled`,
    `${account.built} tokens built in this turn`,
    ...(prefill.evicted === undefined ? [] : [`memory tokens evicted by ${prefill.evicted}`]),
    ...(prefill.keptAs === undefined ? [] : [`kept as ${prefill.keptAs}`]),
    ...(prefill.strategy === 'prefix' ? [] : [`joined in ${formatNumber(prefill.joinMs, 2)} ms`]),
    ...(prefill.strategy !== 'prefix' && prefill.recomputedTokens > 0
      ? [`${prefill.recomputedTokens} tokens recomputed`]
      : []),
    ...(account.selector === undefined
      ? []
      : [`selected by ${account.selector.tokens} tokens through ${account.selector.layers} layers`]),
    ...(account.gate > 0 ? [`${account.gate} tokens evaluated by the gate`] : []),
  ];
  return `${parts.join(', ')}.`;
}

/** Section on the injected K/V: origin, place and size of each block. */
export function kvPart(turn: AnsweredTurn): Html {
  const { prefill } = turn;
  const pieces = kvPieces(prefill);
  return html`<section aria-labelledby="kv">
    <h2 id="kv">Keys and values</h2>
    <p>${printable(kvSummary(turn))}</p>
    ${
      pieces.length === 0
        ? ''
        : html`<div class="scroll" role="region" aria-label="Table of the blocks" tabindex="0">
            <table class="plain">
              <thead>
                <tr>
                  <th scope="col">block</th>
                  <th scope="col">origin</th>
                  <th scope="col" class="right">tokens</th>
                  <th scope="col" class="right">positions</th>
                  <th scope="col" class="right">size</th>
                  <th scope="col" class="right">α</th>
                  <th scope="col" class="right">ms</th>
                  <th scope="col">key</th>
                </tr>
              </thead>
              <tbody>
                ${pieces.slice(0, MOST_PIECES).map(
                  ({ name, memoryId, origin, tokens, position, sizeBytes, alpha, computeMs, key }) =>
                    html`<tr>
                      <th scope="row">${printable(memoryId ?? name)}</th>
                      <td class="${origin === 'computed' ? 'computed' : 'cached'}">${originWords[origin]}</td>
                      <td class="right">${tokens}</td>
                      <td class="right">${position}–${position + tokens - 1}</td>
                      <td class="right"><span>${inBytes(sizeBytes)}</span></td>
                      <td class="right">${formatNumber(alpha, 3)}</td>
                      <td class="right">${origin === 'computed' ? formatNumber(computeMs, 2) : '–'}</td>
                      <td><code title="${printable(key)}">${printable(key.slice(0, 12))}…</code></td>
                    </tr> `,
                )}
              </tbody>
            </table>
          </div>`
    }
    ${leftOut(MOST_PIECES, pieces.length, 'blocks')}
    ${prefill !== null && prefill.strategy !== 'prefix' ? html`<p class="note">The size of a block is its share, by tokens, of all that was imported. The header is never scaled.</p>` : ''}
  </section>`;
}
