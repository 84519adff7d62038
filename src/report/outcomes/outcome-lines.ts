import { textHash } from '../../base/text-hash.ts';
import type { TurnListRow } from '../../store/schema.ts';
import { storesTexts, withholdsTexts } from '../../eval/analysis/texts/withheld-texts.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import { judgingColumns, type OutcomeColumn, outcomeColumns } from '../../store/records/outcome-columns.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { schemaVersion } from '../../store/records/schema-version.ts';
import { escapedControls } from '../../render/printable.ts';

/** Digits of a number: more would be a third of the file. */
const DIGITS = 5;
/** Characters of a name in place of a text: enough to tell answers apart. */
const NAME_CHARACTERS = 'sha256:'.length + 16;

const shortName = (text: string): string => textHash(text).slice(0, NAME_CHARACTERS);

function valueOf(row: TurnListRow, column: OutcomeColumn): string | number | null {
  const value = row[column];
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value;
}

/**
 * The outcomes of a run's turns as JSON Lines: a head with the names of the columns, then a line for each item, with the values
 * of its turns in that order. Without the texts of data sets that are others', and where none were stored: short names stand for
 * answers, nothing for questions and golds.
 * @param rows of the run, in the order of writing
 */
export function outcomeLines(run: RunRecord, rows: Iterable<TurnListRow>): string {
  const hidden = withholdsTexts(run) || !storesTexts(run);
  const isNull = new Set<OutcomeColumn>(unknownQuality(run.model) === null ? [] : judgingColumns);
  const cell = (row: TurnListRow, column: OutcomeColumn): string | number | null => {
    const value = isNull.has(column) ? null : valueOf(row, column);
    if (!hidden || typeof value !== 'string') return value;
    if (column === 'answer') return shortName(value);
    return column === 'error' ? 'failed' : value;
  };
  const items = [...Map.groupBy(rows, ({ itemId }) => itemId)].map(([itemId, turns]) => {
    const { userId } = turns[0]!;
    const known = turns.find(({ question }) => question !== null);
    const texts = hidden ? {} : { query: known?.question ?? null, gold: known?.gold ?? null };
    return {
      ...{ itemId, userId, category: turns.find(({ category }) => category !== null)?.category ?? null },
      ...texts,
      turns: turns.map((row) => outcomeColumns.map((column) => cell(row, column))),
    };
  });
  const head = { schemaVersion, run: run.name, columns: outcomeColumns };
  return [head, ...items].map((line) => `${escapedControls(JSON.stringify(line))}\n`).join('');
}
