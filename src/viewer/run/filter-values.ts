import type { BenchDatabase } from '../../store/database.ts';
import { ItemOutcomesRepository } from '../../store/item-outcomes-repository.ts';
import { TurnListRepository } from '../../store/turn-list-repository.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { armsOf, unknownName } from '../find-run.ts';
import type { TurnFilter } from '../links.ts';
import type { FilterValues } from './turn-filters.ts';

/** Reads what the filters of a run offer. @throws BenchError `not-found` for an arm or category of the filter that the run does not have */
export function filterValues(database: BenchDatabase, run: RunRecord, filter: TurnFilter): FilterValues {
  const categories = new TurnListRepository(database).categories(run.id);
  if (filter.category !== undefined && !categories.includes(filter.category)) {
    throw unknownName(`run "${run.name}" has no category`, filter.category, categories);
  }
  const arms = armsOf(database, run);
  for (const arm of [filter.arm, filter.wrong, filter.right]) {
    if (arm !== undefined && !arms.includes(arm)) throw unknownName(`run "${run.name}" has no arm`, arm, arms);
  }
  return {
    arms,
    categories,
    failedChecks: new ItemOutcomesRepository(database).failedChecks(run.id),
    judged: unknownQuality(run.model) === null,
  };
}
