import { html } from 'hono/html';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import type { Html } from '../../render/html.ts';
import type { BenchDatabase } from '../../store/database.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { cacheStates, funnelStages, wrongClasses } from '../../store/records/turn-record.ts';
import { type TurnListFilter, TurnListRepository } from '../../store/turn-list-repository.ts';
import { unknownNameError } from '../../base/bench-error.ts';
import { type Option, options, select, textField, tick } from '../list-components.ts';
import { cacheNames } from '../turn/kv-and-cost-sections.ts';

/** The arms of a run with turns, in the order of its plan. */
export function armsOfRun(database: BenchDatabase, run: RunRecord): string[] {
  const arms = new TurnListRepository(database).distinct(run.id, 'arm');
  const planned = run.plan.arms.map(({ name }) => name).filter((name) => arms.includes(name));
  return [...planned, ...arms.filter((arm) => !planned.includes(arm))];
}

/** Reads the choices of the filters of a run. @throws BenchError `not-found` if the filter names an unknown arm or category */
export function filterValues(database: BenchDatabase, run: RunRecord, filter: TurnListFilter) {
  const categories = new TurnListRepository(database).distinct(run.id, 'category');
  if (filter.category !== undefined && !categories.includes(filter.category)) {
    throw unknownNameError(`run "${run.name}" has no category`, filter.category, categories);
  }
  const arms = armsOfRun(database, run);
  for (const arm of [filter.arm, filter.wrong, filter.right]) {
    if (arm !== undefined && !arms.includes(arm)) throw unknownNameError(`run "${run.name}" has no arm`, arm, arms);
  }
  return {
    arms,
    categories,
    failedChecks: new TurnListRepository(database).failedChecks(run.id),
    judged: unknownQuality(run.model) === null,
  };
}

/** The form fields that filter the turns of a run. @param onFile true in an exported file: leaves out fields that its script cannot apply */
export function turnFilters(
  filter: TurnListFilter,
  { arms, categories, failedChecks, judged }: ReturnType<typeof filterValues>,
  onFile = false,
): Html {
  const answers = html`${select('answer', 'answer', filter.answer, [['', 'any'], ...options(['right', 'wrong'])])}
  ${arms.length < 2 ? '' : select('wrong', 'wrong in', filter.wrong, [['', '–'], ...options(arms)])}
  ${arms.length < 2 ? '' : select('right', 'and right in', filter.right, [['', '–'], ...options(arms)])}
  ${select('wrongClass', 'class of error', filter.wrongClass, [['', 'any'], ...options(wrongClasses)])}
  ${select('stage', 'failed stage', filter.stage, [['', 'any'], ...options(funnelStages)])}`;
  const checks = [...failedChecks].map(([name, turns]): Option => [name, `${name}: ${turns} turns`]);
  return html`${textField(filter.text)} ${select('arm', 'arm', filter.arm, [['', 'all'], ...options(arms)])}
  ${judged ? answers : ''}
  ${onFile || categories.length === 0 ? '' : select('category', 'category', filter.category, [['', 'all'], ...options(categories)])}
  ${select('cache', 'cache', filter.cache, [['', 'any'], ...cacheStates.map((one): Option => [one, cacheNames[one]])])}
  ${checks.length === 0 ? '' : select('check', 'fails check', filter.check, [['', 'no filter'], ...checks])}
  ${judged ? tick('disagreeing', 'arms disagree', filter.disagreeing) : ''}
  ${onFile ? '' : tick('truncated', 'truncated', filter.truncated)} ${tick('failed', 'error', filter.failed)}`;
}
