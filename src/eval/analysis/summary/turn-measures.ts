import type { Timings } from '../../../records/timings.ts';
import type { TokenCounts } from '../../../records/token-counts.ts';
import type { AnsweredResult } from '../../../records/turn-result.ts';
import type { Measure } from '../statistics/per-item.ts';

type Measures<Name extends string> = Readonly<Record<Name, Measure<AnsweredResult>>>;

function measuresOf<Name extends string>(
  names: readonly Name[],
  numbersOf: (turn: AnsweredResult) => Readonly<Partial<Record<Name, number>>>,
): Measures<Name> {
  const measures = names.map((name) => [name, { of: (turn: AnsweredResult) => numbersOf(turn)[name] ?? null }]);
  return Object.fromEntries(measures) as Measures<Name>;
}

/** Milliseconds of a turn and of its phases. */
export const timingOf: Measures<keyof Timings> = measuresOf(
  ['retrieve', 'assemble', 'gate', 'kvLoad', 'kvCompute', 'prefill', 'firstToken', 'decode', 'total'],
  ({ timings }) => timings,
);

/** Tokens of a turn; a turn that ran none through first layers has none there. */
export const tokensOf: Measures<keyof TokenCounts> = measuresOf(
  ['prompt', 'kvResident', 'evaluated', 'firstLayers', 'generated', 'positions'],
  ({ tokens }) => tokens,
);
