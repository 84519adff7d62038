import type { TurnListFilter } from '../turn-list-filter.ts';
import type { TurnListRow } from '../schema.ts';

/** The marks of a turn by which lists are filtered; a run has few kinds of turns. */
export interface TurnKind extends Pick<
  TurnListRow,
  'arm' | 'category' | 'truncated' | 'disagreeing' | 'wrongClass' | 'failedStage' | 'cache' | 'failedChecks'
> {
  /** Null where the answer has no value. */
  readonly answer: 'right' | 'wrong' | null;
  readonly failed: boolean;
}

/** The conditions of a filter that the kind of a turn meets or not. */
export type KindFilter = Omit<TurnListFilter, 'wrong' | 'right' | 'text'>;

/** As `matches` in SQL. */
export function isOfKind(kind: TurnKind, filter: KindFilter): boolean {
  const { arm, answer, disagreeing, category, wrongClass, stage, cache, check, truncated, failed } = filter;
  const is = (asked: string | undefined, value: string | null): boolean => asked === undefined || asked === value;
  return (
    is(arm, kind.arm) &&
    is(answer, kind.answer) &&
    is(category, kind.category) &&
    is(wrongClass, kind.wrongClass) &&
    is(stage, kind.failedStage) &&
    is(cache, kind.cache) &&
    (check === undefined || (kind.failedChecks?.split(',').includes(check) ?? false)) &&
    (disagreeing === undefined || kind.disagreeing) &&
    (truncated === undefined || kind.truncated) &&
    (failed === undefined || kind.failed)
  );
}
