import { existsSync } from 'node:fs';
import type { BenchConfig } from '../config/bench-config.ts';
import { BenchError } from '../base/bench-error.ts';
import { RunRepository } from '../store/run-repository.ts';
import type { ComposeEngine } from '../engine/engine-adapter.ts';
import type { RunResults } from '../store/records/run-results.ts';
import type { RunRecord } from '../store/records/run-record.ts';
import type { BenchHooks } from './run/bench-hooks.ts';
import { suiteRunName } from '../store/run-names.ts';
import { findResumable, noSuchRun } from './run/plan/resumable-run.ts';
import { runWorker, type StartWorker, type WorkerHooks, type WorkerTask } from './run/workers/workers.ts';
import { openRunDatabase } from './run/open-run-database.ts';
import { runSuite, type SuiteRun } from './run/run-suite.ts';
import { resultsOfRuns } from './analysis/results-from-stored-turns.ts';
import { suitesNamed } from './suites/suites.ts';

/**
 * Runs the named suites, one run each (`NAME/SUITE`), or resumes them. @param startWorker Default: one process takes all
 * turns @throws BenchError on bad options, data or models; the reason of `signal`
 */
export async function runSuites(
  config: BenchConfig,
  compose: ComposeEngine,
  hooks: BenchHooks = {},
  startWorker?: StartWorker,
): Promise<RunResults[]> {
  requireUsableDatabase(config);
  const planned = config.resume === undefined ? plan(config) : planToResume(config, config.resume);
  const results: RunResults[] = [];
  for (const run of planned) {
    results.push(
      run.begun?.status === 'finished'
        ? storedResults(config, run.name)
        : await runSuite(run, config, compose, { ...hooks, startWorker }),
    );
  }
  return results;
}

/** Takes turns of a run that another process makes. @throws as `runWorker` */
export async function workOnRun(task: WorkerTask, compose: ComposeEngine, hooks: WorkerHooks): Promise<void> {
  const [suite] = suitesNamed([task.suite]);
  await runWorker(task, suite!, compose, hooks);
}

/** Opens a database that exists, so that one of another version is refused before a model is loaded. */
function requireUsableDatabase(config: BenchConfig): void {
  if (existsSync(config.db)) openRunDatabase(config).close();
}

function plan(config: BenchConfig): SuiteRun[] {
  const suites = suitesNamed(config.suite);
  requireDataThatAreUsed(config, suites);
  requireListedPassages(config, suites);
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const [only] = suites;
  const name = config.run ?? `${suites.length === 1 ? only!.name : 'suites'}-${time}`;
  return suites.map((suite) => ({
    suite,
    name: suites.length === 1 ? name : suiteRunName(name, suite.name),
    begun: undefined,
  }));
}

/** A suite that makes its own data has no use for others. */
function requireDataThatAreUsed({ given, dataset }: BenchConfig, suites: SuiteRun['suite'][]): void {
  if (!given.includes('dataset') || suites.some(({ data }) => data === undefined)) return;
  throw new BenchError(
    'bad-option',
    `--dataset ${dataset.join(',')}: ${suites.map(({ name }) => name).join(', ')} makes its own data`,
    'drop --dataset, or choose a suite that asks it, such as main',
  );
}

/** Data that a suite makes for itself list no passages. */
function requireListedPassages({ retriever }: BenchConfig, suites: SuiteRun['suite'][]): void {
  const making = suites.filter(({ data }) => data !== undefined).map(({ name }) => name);
  if (retriever !== 'given' || making.length === 0) return;
  throw new BenchError(
    'bad-option',
    `--retriever given: data that suites make for themselves list no passages (${making.join(', ')})`,
    'choose suites that ask --dataset, such as main',
  );
}

/** One run, or the suites of a name: those that are finished, begun, and not begun yet. */
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
      .map((suite) => ({ suite, name, begun }));
  }
  const planned = suitesOf(first).map((suite): SuiteRun => {
    const member = suiteRunName(name, suite.name);
    return { suite, name: member, begun: members.find((run) => run.name === member) };
  });
  if (planned.some(({ begun }) => begun?.status !== 'finished')) return planned;
  throw new BenchError(
    'bad-option',
    `--resume ${name}: all its suites are finished`,
    `see them: npm run tables -- --run ${name}`,
  );
}

function storedResults(config: BenchConfig, name: string): RunResults {
  using database = openRunDatabase(config);
  return resultsOfRuns(database, name)[0]!;
}
