import { fieldOfTurns } from '../../db/results/result-views.ts';
import type { AnsweredResult } from '../../records/turn-result.ts';
import type { Measure } from './statistics/per-item.ts';

type Group = 'tokens' | 'timings' | 'scores' | 'observed';

/** The fields of a group that are numbers, where a turn has them. */
type NumberField<In extends Group> = {
  [Field in keyof AnsweredResult[In]]-?: AnsweredResult[In][Field] extends number | null | undefined ? Field : never;
}[keyof AnsweredResult[In]] &
  string;

/** A number that stands in a turn, such as its time to the first token; of stored turns it is read column by column. */
export function numberField<In extends Group>(group: In, field: NumberField<In>): Measure<AnsweredResult> {
  return {
    of: (turn) => (turn[group][field] as number | null | undefined) ?? null,
    inList: (turns) => {
      const value = fieldOfTurns(turns, { group, field }) as (place: number) => number | null | undefined;
      return (place) => value(place) ?? null;
    },
  };
}
