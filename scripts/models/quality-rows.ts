import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clopperPearson } from '../../src/eval/analysis/statistics/intervals.ts';

/** A share of questions with its Clopper–Pearson interval. */
export interface QualityRow {
  readonly measure: string;
  readonly share: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
}

/** @param outcomes one for each question, true where it went as the measure says */
export function qualityRow(measure: string, outcomes: readonly boolean[]): QualityRow {
  const hits = outcomes.filter(Boolean).length;
  const n = outcomes.length;
  return { measure, share: hits / n, ...clopperPearson(hits, n), n };
}

/** Prints the rows as the table that a model's card holds, and writes `quality.json` into the model's folder. */
export function writeQuality(
  folder: string,
  about: Readonly<Record<string, unknown>>,
  rows: readonly QualityRow[],
): void {
  const percent = (share: number): string => (100 * share).toFixed(1);
  console.log('| measure | % | 95 % interval | n |\n|---|---|---|---|');
  for (const { measure, share, low, high, n } of rows) {
    console.log(`| ${measure} | ${percent(share)} | ${percent(low)} to ${percent(high)} | ${n} |`);
  }
  writeFileSync(join(folder, 'quality.json'), `${JSON.stringify({ ...about, rows }, null, 2)}\n`);
}
