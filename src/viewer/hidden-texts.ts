import { html } from 'hono/html';
import type { ItemPair, ItemSide } from '../store/arm-comparison-repository.ts';
import { storesTexts, withheldSets } from '../eval/analysis/text-restrictions.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import type { Html } from '../render/html.ts';
import { printable } from '../render/escape-control-characters.ts';

/** Gives the reason why hashes replace the texts of a run; null if its texts are shown. */
export type HiddenTexts = (run: RunRecord) => string | null;

export function neverStored(run: RunRecord): string | null {
  return storesTexts(run) ? null : 'the run stored only hashes of them (--no-text)';
}

/** Default rule, for everything that may leave the machine: hides texts of data sets that may not be redistributed. */
export const hiddenInReports: HiddenTexts = (run) => {
  const names = withheldSets(run).map(({ name }) => name);
  if (!storesTexts(run) || names.length === 0) return neverStored(run);
  return `hashes replace the texts of ${names.join(', ')}, which may not be redistributed`;
};

/** The note on pages of a run with hidden texts; empty if texts are shown. */
export function hiddenNote(hidden: string | null): Html | string {
  return hidden === null ? '' : html`<p class="note">No texts: ${printable(hidden)}.</p>`;
}

/** A pair of answers without its texts; different answers stay different. */
export function pairWithoutTexts({ itemId, gold, a, b }: ItemPair): ItemPair {
  const same = a.answer === b.answer;
  // Copies field by field, since a row may have more fields than its type.
  const side = ({ repeat, turn, success, repeats, error }: ItemSide, answer: string): ItemSide => ({
    ...{ repeat, turn, success, repeats, answer },
    error: error === null ? null : 'failed',
  });
  return {
    itemId,
    question: '',
    gold: gold === null ? null : '',
    a: side(a, 'hidden'),
    b: side(b, same ? 'hidden' : 'hidden, another'),
  };
}
