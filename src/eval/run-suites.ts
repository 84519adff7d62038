import { existsSync } from 'node:fs';
import type { BenchConfig } from '../config/bench-config.ts';
import { BenchError } from '../base/bench-error.ts';
import { RunRepository } from '../store/run-repository.ts';
import type { SelectEngine } from '../engine/engine-adapter.ts';
import type { RunResults } from '../store/records/run-results.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import type { BenchHooks } from './run/bench-hooks.ts';
import { suiteRunName } from '../store/run-names.ts';
import { commandConfig, findResumable, noSuchRun } from './run/plan/resume-run.ts';
import type { StartWorker } from './run/workers/workers.ts';
import { openRunDatabase } from './run/open-run-resources.ts';
import { runSuite, type SuiteRun } from './run/run-suite.ts';
import { resultsOfRuns } from './analysis/results-from-stored-turns.ts';
import { suitesNamed } from './suites/suites.ts';

/**
 * Runs the configured suites, one run each (`NAME/SUITE`), or resumes them.
 * @param startWorker starts another process; without it, this one takes all turns
 * @throws BenchError on bad options, data or models; the reason of `signal` if aborted
 */
export async function runSuites(
  config: BenchConfig,
  selectEngine: SelectEngine,
  hooks: BenchHooks = {},
  startWorker?: StartWorker,
): Promise<RunResults[]> {
  const planned = config.resume === undefined ? plan(config) : planToResume(config, config.resume);
  requireUsableDatabase(config, planned);
  const results: RunResults[] = [];
  for (const run of planned) {
    results.push(
      run.begun?.status === 'finished'
        ? storedResults(config, run.name)
        : await runSuite(run, selectEngine, { ...hooks, startWorker }),
    );
  }
  return results;
}

/** Refuses a database of another version, and one that has a run of these names, before models are loaded and data written. */
function requireUsableDatabase(config: BenchConfig, planned: readonly SuiteRun[]): void {
  if (!existsSync(config.db)) return;
  using database = openRunDatabase(config);
  const runs = new RunRepository(database);
  for (const { name, begun } of planned) if (begun === undefined) runs.requireFree(name);
}

function plan(config: BenchConfig): SuiteRun[] {
  const suites = suitesNamed(config.suite);
  refuseUnusedOptions(config, suites);
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const [only] = suites;
  const name = config.run ?? `${suites.length === 1 ? only!.name : 'suites'}-${time}`;
  return suites.map((suite) => ({
    suite,
    name: suites.length === 1 ? name : suiteRunName(name, suite.name),
    begun: undefined,
    config,
  }));
}

/** Refuses options that suites which generate their data do not use. */
function refuseUnusedOptions({ given, dataset, retriever }: BenchConfig, suites: SuiteRun['suite'][]): void {
  const generating = suites.filter(({ data }) => data !== undefined);
  const names = generating.map(({ name }) => name).join(', ');
  if (given.includes('dataset') && generating.length === suites.length) {
    const message = `--dataset ${dataset.join(',')} is not used: ${names} generates its data`;
    throw new BenchError('bad-option', message, 'drop --dataset, or choose a suite that uses it, such as main');
  }
  if (retriever !== 'given' || generating.length === 0) return;
  const message = `--retriever given: the generated data of ${names} lists no passages`;
  throw new BenchError('bad-option', message, 'choose suites that use --dataset, such as main');
}

/** The run of that name, or all suites of the group, finished or not. */
function planToResume(config: BenchConfig, name: string): SuiteRun[] {
  if (!existsSync(config.db)) throw noSuchRun(name, []);
  using database = openRunDatabase(config);
  const runs = new RunRepository(database);
  const members = runs.listGroup(name).filter((run) => run.name !== name);
  const suitesOf = ({ plan }: RunRecord) => suitesNamed(plan.settings.suite as BenchConfig['suite']);
  const [first] = members;
  if (first === undefined) {
    const begun = findResumable(runs, name);
    return suitesOf(begun)
      .filter((suite) => suite.name === begun.suite)
      .map((suite) => ({ suite, name, begun, config }));
  }
  const planned = suitesOf(first).map((suite): SuiteRun => {
    const member = suiteRunName(name, suite.name);
    const begun = members.find((run) => run.name === member);
    return { suite, name: member, begun, config: begun === undefined ? commandConfig(config, first) : config };
  });
  if (planned.some(({ begun }) => begun?.status !== 'finished')) return planned;
  const message = `--resume ${name}: all its suites are finished`;
  throw new BenchError('bad-option', message, `see them: npx dki-bench tables --run ${name}`);
}

function storedResults(config: BenchConfig, name: string): RunResults {
  using database = openRunDatabase(config);
  return resultsOfRuns(database, name)[0]!;
}
