import type { AnsweredResult } from '../../store/records/turn-result.ts';
import type { Lookup } from './statistics/column.ts';
import type { Measure } from './statistics/per-item.ts';

type Group = 'facts' | 'account' | 'tokens' | 'timings' | 'scores' | 'observed';

/** The part of a turn that has the fields: a group, or the turn itself. */
type Holder<In extends Group | null> = In extends Group ? AnsweredResult[In] : AnsweredResult;

/** A field of a group of a turn, or of the turn itself, such as the state of its cache; of stored turns it is read column by column. */
export function turnField<In extends Group | null, Field extends keyof Holder<In> & string>(
  group: In,
  field: Field,
): Lookup<AnsweredResult, Holder<In>[Field]> {
  return {
    of: (turn) => ((group === null ? turn : turn[group]) as Holder<In>)[field],
  };
}

/** The fields of a group that are numbers, where a turn has them. */
type NumberField<In extends Group> = {
  [Field in keyof AnsweredResult[In]]-?: AnsweredResult[In][Field] extends number | null | undefined ? Field : never;
}[keyof AnsweredResult[In]] &
  string;

/** As `turnField`, of a number; null where a turn has none. */
export function numberField<In extends Group>(group: In, field: NumberField<In>): Measure<AnsweredResult> {
  return {
    of: (turn) => (turn[group][field] as number | null | undefined) ?? null,
  };
}
