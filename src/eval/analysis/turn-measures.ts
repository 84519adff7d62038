import type { Timings } from '../../store/records/timings.ts';
import type { TokenCounts } from '../../store/records/token-counts.ts';
import type { AnsweredResult } from '../../store/records/turn-result.ts';
import type { Measure } from './statistics/per-item.ts';
import { numberField, turnField } from './turn-field.ts';

type Measures<Name extends string> = Readonly<Record<Name, Measure<AnsweredResult>>>;

function measuresOf<Name extends string>(
  names: readonly Name[],
  measureOf: (name: Name) => Measure<AnsweredResult>,
): Measures<Name> {
  return Object.fromEntries(names.map((name) => [name, measureOf(name)])) as Measures<Name>;
}

/** The state of the cache, as the turn itself says. */
export const cacheOf = turnField('account', 'cache');

/** Milliseconds of a turn and of its phases. */
export const timingOf: Measures<keyof Timings> = measuresOf(
  ['retrieve', 'assemble', 'gate', 'kvLoad', 'kvCompute', 'prefill', 'firstToken', 'decode', 'total'],
  (name) => numberField('timings', name),
);

/** Tokens of a turn; a turn that ran none through first layers has none there. */
export const tokensOf: Measures<keyof TokenCounts> = measuresOf(
  ['prompt', 'kvResident', 'evaluated', 'firstLayers', 'generated', 'positions'],
  (name) => numberField('tokens', name),
);
