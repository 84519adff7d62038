import { grammarFor } from '../../base/english-and-chinese-wordings.ts';
import type { HistoryMessage, WrittenRecord } from '../record-schemas.ts';

type DatasetLine = Extract<WrittenRecord, { type: 'dataset' }>;

export function exchange(user: string, assistant: string): HistoryMessage[] {
  return [
    { role: 'user', content: user },
    { role: 'assistant', content: assistant },
  ];
}

/** Number from 1 for ids, padded with zeros. */
export function ordinal(index: number, digits = 2): string {
  return String(index + 1).padStart(digits, '0');
}

const MINUTE_MS = 60_000;

/** Formats a time, cut to whole minutes, such as `2026-03-01T09:00:00Z`. */
export function formatTime(ms: number): string {
  return new Date(ms - (ms % MINUTE_MS)).toISOString().replace('.000', '');
}

/** Text of a data set in JSON Lines: header and records. */
export function datasetText(
  { name, language, version, seed, userKinds, ...more }: Omit<DatasetLine, 'type' | 'unknownAnswer'>,
  records: readonly WrittenRecord[],
): string {
  const { unknownAnswer } = grammarFor(language);
  const header: DatasetLine = { type: 'dataset', name, language, version, seed, unknownAnswer, userKinds, ...more };
  return [header, ...records].map((record) => `${JSON.stringify(record)}\n`).join('');
}
