import { html } from 'hono/html';
import type { Html } from '../../render/html-table.ts';

/** A part of a bar; start and length are shares of the whole. */
export interface BarPart {
  readonly look: string;
  readonly start: number;
  readonly share: number;
}

const UNITS = 1000;
const inUnits = (share: number): string => (Math.round(Math.min(1, Math.max(0, share)) * UNITS * 10) / 10).toString();

/** A bar as a picture, hidden from screen readers: its numbers stand beside it as text. */
export function bar(parts: readonly BarPart[]): Html {
  return html`<svg class="bar" viewBox="0 0 ${UNITS} 10" preserveAspectRatio="none" aria-hidden="true">
    ${parts.map(
      ({ look, start, share }) =>
        html`<rect class="${look}" x="${inUnits(start)}" y="0" width="${inUnits(share)}" height="10" />`,
    )}
  </svg>`;
}

/** Places parts one after the other, with lengths by weight. */
export function stacked(parts: readonly { readonly look: string; readonly weight: number }[]): BarPart[] {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  let start = 0;
  return parts.map(({ look, weight }) => {
    const part = { look, start, share: total === 0 ? 0 : weight / total };
    start += part.share;
    return part;
  });
}
