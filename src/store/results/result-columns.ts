import { observed } from '../records/observed.ts';
import { scores } from '../records/scores.ts';
import { timings } from '../records/timings.ts';
import { tokenCounts } from '../records/token-counts.ts';
import { turnAccount } from '../records/turn-account.ts';
import { promptFacts } from '../records/turn-record.ts';
import type { TurnResult } from '../records/turn-result.ts';

/** The groups of a turn whose fields are columns of their own: they differ from arm to arm. */
const FIELDS = {
  facts: Object.keys(promptFacts.unwrap().shape),
  account: Object.keys(turnAccount.unwrap().shape),
  tokens: Object.keys(tokenCounts.unwrap().shape),
  timings: Object.keys(timings.unwrap().shape),
  scores: Object.keys(scores.unwrap().shape),
  observed: Object.keys(observed.unwrap().shape).filter((field) => field !== 'nextTokens'),
} as const;

/** The parts of a turn that are one column each, whose values are documents. */
const PARTS = [
  ...(['state', 'itemId', 'userId', 'arm', 'repeat', 'turn', 'position', 'error'] as const),
  ...(['item', 'answer', 'given', 'prefill'] as const),
] as const;

/** A value that every turn has, or lacks. */
export interface ResultColumn {
  /** `timings`; null for a part of the turn itself. */
  readonly group: keyof typeof FIELDS | null;
  readonly field: string;
}

/** The columns of `TurnResult`s, in the order in which they are stored. */
export const resultColumns: readonly ResultColumn[] = [
  ...PARTS.map((field) => ({ group: null, field })),
  ...Object.entries(FIELDS).flatMap(([group, fields]) =>
    fields.map((field) => ({ group: group as keyof typeof FIELDS, field })),
  ),
];

/** The value of a column; undefined where the turn has none. */
export function valueOf(turn: TurnResult, { group, field }: ResultColumn): unknown {
  const part = group === null ? turn : turn.state === 'answered' ? turn[group] : {};
  return (part as unknown as Readonly<Record<string, unknown>>)[field];
}
