import { onceFor } from '../../base/once-for.ts';
import type { FailedTurn } from '../../store/records/turn-record.ts';
import type { AnsweredResult } from '../../store/records/turn-result.ts';
import { groupedBy } from './statistics/sublist.ts';
import { turnField } from './turn-field.ts';

/** The turns of a run, in the order in which they were written. */
export interface TurnsOfRun {
  readonly answered: readonly AnsweredResult[];
  readonly failed: readonly FailedTurn[];
}

const ARM = turnField(null, 'arm');

/** The turns of each arm that answered any: the same lists each time, of which other things are known once. */
export const turnsByArm: (turns: readonly AnsweredResult[]) => ReadonlyMap<string, readonly AnsweredResult[]> = onceFor(
  (turns) => groupedBy(turns, ARM),
);

const NONE: readonly AnsweredResult[] = [];

/** The turns of an arm; none where it answered nothing. */
export function turnsOfArm(turns: readonly AnsweredResult[], arm: string | undefined): readonly AnsweredResult[] {
  return (arm === undefined ? undefined : turnsByArm(turns).get(arm)) ?? NONE;
}
