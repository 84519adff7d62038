import { resultWithoutTexts } from '../../eval/analysis/texts/turn-without-texts.ts';
import { withholdsTexts } from '../../eval/analysis/texts/withheld-texts.ts';
import { unknownQuality, withoutQuality } from '../../eval/analysis/unknown-quality.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import type { TurnResult } from '../../store/records/turn-result.ts';
import { csvText } from '../../render/csv.ts';
import { escapedControls } from '../../render/printable.ts';
import { turnColumns } from './turn-columns.ts';

/** Formats of the list of turns. */
export const turnFormats = ['csv', 'jsonl'] as const;
export type TurnFormat = (typeof turnFormats)[number];

/** A run, and its turns as they are read. */
export interface ListedRun {
  readonly run: Pick<RunRecord, 'name' | 'suite' | 'model' | 'dataset'>;
  readonly turns: Iterable<TurnResult>;
}

/** Text that a spreadsheet could take for a formula, by its first character that is none of these: blanks, apostrophes. */
const FORMULA = /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/;

/**
 * Text that no spreadsheet executes: an apostrophe goes in front of what could be a formula, and of what looks as if it had
 * got one already, so that taking it off again gives the text.
 */
export function spreadsheetText(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Numbers stand as they are; a list is JSON, and nothing is an empty cell. */
function csvField(value: ReturnType<(typeof turnColumns)[number]['of']>): string {
  if (value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return spreadsheetText(typeof value === 'string' ? value : JSON.stringify(value));
}

/**
 * A line a turn, each ending with a line break, in the order of writing; in CSV a line of names first. Quality is empty
 * where the weights are random; hashes stand in place of texts that are others'. Turns are read one after the other: a run of 100,000 turns is not held in memory.
 */
export function* turnLines(runs: Iterable<ListedRun>, format: TurnFormat): Generator<string, void, undefined> {
  if (format === 'csv') yield csvText([turnColumns.map(({ name }) => name)]);
  for (const { run, turns } of runs) {
    const judged = unknownQuality(run.model) === null;
    const withheld = withholdsTexts(run);
    for (const stored of turns) {
      const turn = withheld ? resultWithoutTexts(stored) : stored;
      const shown = judged || turn.state === 'failed' ? turn : withoutQuality(turn);
      const values = turnColumns.map(({ name, of }) => [name, of(shown, run)] as const);
      yield format === 'csv'
        ? csvText([values.map(([, value]) => csvField(value))])
        : `${escapedControls(JSON.stringify(Object.fromEntries(values)))}\n`;
    }
  }
}
