import { html } from 'hono/html';
import type { ItemPair, ItemSide } from '../store/item-pair-repository.ts';
import type { TurnListRow } from '../store/turn-list-repository.ts';
import { storesTexts, withheldSets } from '../eval/analysis/text-restrictions.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import type { Html } from '../render/html.ts';
import { printable } from '../render/printable.ts';

/** Says in one line why hashes stand in place of a run's texts; null where the texts are shown. */
export type HiddenTexts = (run: RunRecord) => string | null;

export function neverStored(run: RunRecord): string | null {
  return storesTexts(run) ? null : 'the run stored hashes in their place (--no-text): they cannot be shown';
}

/** The rule of all that may leave the machine: no text of a data set that is others'. */
export const hiddenInReports: HiddenTexts = (run) => {
  const names = withheldSets(run).map(({ name }) => name);
  if (!storesTexts(run) || names.length === 0) return neverStored(run);
  return `hashes stand in place of the texts of ${names.join(', ')}, which are others'`;
};

/** The remark above pages of a run whose texts are hidden; nothing where they are shown. */
export function hiddenNote(hidden: string | null): Html | string {
  return hidden === null ? '' : html`<p class="note">No texts: ${printable(hidden)}.</p>`;
}

/** A row of a list, whose texts are cut: it says nothing in their place. */
export function rowWithoutTexts(row: TurnListRow): TurnListRow {
  return {
    ...row,
    question: '',
    gold: row.gold === null ? null : '',
    answer: '',
    error: row.error === null ? null : 'failed',
  };
}

/** A pair of a list, as `rowWithoutTexts`; answers that differ still do. */
export function pairWithoutTexts({ itemId, gold, a, b }: ItemPair): ItemPair {
  const same = a.answer === b.answer;
  // Field by field: a row may hold more than its type says.
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
