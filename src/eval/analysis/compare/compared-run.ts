import type { RunRecord } from '../../../store/records/run-record.ts';
import type { Turns, RunTurns } from '../run-turns.ts';
import { checkRun } from '../checks/decide-checks.ts';
import { metricsOfRun } from '../metrics/run-metrics.ts';
import { redactResult, withholdsTexts } from '../redact-turn.ts';
import { cacheRegime } from '../summary/compared-arms.ts';
import { unknownQuality } from '../clear-random-model-scores.ts';
import { isDeepStrictEqual } from 'node:util';
import { BenchError } from '../../../base/bench-error.ts';
import { didYouMean } from '../../../base/nearest-name.ts';
import { deviceName } from '../device-name.ts';

export interface RunAndTurns {
  readonly run: RunRecord;
  readonly turns: RunTurns;
}

/** Prepares a run for a comparison; an unfinished run is compared by the turns that it has. */
export function comparedRun({ run, turns }: RunAndTurns) {
  const { arms, armsNotRun, settings, metricsVersion = 1 } = run.plan;
  const { probes } = run;
  const metrics = metricsOfRun({ dataset: run.dataset, ...run.plan });
  const checks = probes !== null && run.status === 'finished' ? checkRun({ ...run, probes }, turns, metrics) : [];
  const shown = withholdsTexts(run) ? turns.answered.map((turn) => redactResult(turn)) : turns.answered;
  const byArm = Map.groupBy(shown, ({ arm }) => arm);
  return {
    run,
    settings: { ...settings, metricsVersion, ...(armsNotRun.length === 0 ? {} : { armsNotRun }) } as Values,
    randomWeights: unknownQuality(run.model) !== null,
    metrics,
    // These keep its numbers from being quoted; none for an unfinished run.
    failedChecks: checks.filter(({ status }) => status === 'failed').map(({ check }) => check),
    arms: arms.map(({ name }) => name),
    turns: (arm: string): Turns => byArm.get(arm) ?? [],
    // Turns on which the primary arm of the run had a cache hit.
    hits: new Set(cacheRegime(shown, arms).hits(shown)),
    failedTurns: (arm: string) => turns.failed.filter((turn) => turn.arm === arm).length,
  };
}

export type ComparedRun = ReturnType<typeof comparedRun>;

export interface RunDifference {
  readonly what: string;
  readonly a: string;
  readonly b: string;
}

export interface ArmPair {
  readonly a: string;
  readonly b: string;
}

type Subjects = Pick<RunRecord, 'dataset' | 'model' | 'embedder'>;

/** Settings that are compared by the bytes of their files. */
const SUBJECT_SETTINGS = new Set(['dataset', 'model']);
const MACHINE = ['platform', 'cpu', 'cores', 'threads', 'compute'] as const;
const CODE = ['benchVersion', 'gitCommit', 'gitDirty', 'node', 'llm'] as const;

const SHOWN_HASH = 12;

type Values = Readonly<Record<string, unknown>>;

function differing(a: Values, b: Values, keys: readonly string[]): RunDifference[] {
  const show = (value: unknown): string =>
    value === undefined ? 'not set' : typeof value === 'string' ? value : JSON.stringify(value);
  return keys
    .filter((key) => !isDeepStrictEqual(a[key], b[key]))
    .map((what) => ({ what, a: show(a[what]), b: show(b[what]) }));
}

/** Data and models in which two runs differ, so that their items are not the same questions to the same system. */
export function differentSubjects(a: Subjects, b: Subjects): RunDifference[] {
  const names = ({ parts, ...whole }: Pick<RunRecord['dataset'], 'name' | 'sha256' | 'parts'>): string =>
    (parts ?? [whole]).map(({ name, sha256 }) => `${name} (${sha256.slice(0, SHOWN_HASH)})`).join(' + ');
  return (['dataset', 'model', 'embedder'] as const)
    .filter((part) => a[part].sha256 !== b[part].sha256)
    .map((part) => ({ what: part === 'dataset' ? 'data set' : part, a: names(a[part]), b: names(b[part]) }));
}

/** Settings and code in which two runs differ: possible causes of a difference between their numbers. */
export function differentSettings(a: ComparedRun, b: ComparedRun): RunDifference[] {
  const keys = [...new Set([...Object.keys(a.settings), ...Object.keys(b.settings)])];
  return [
    ...differing(a.settings, b.settings, keys.filter((key) => !SUBJECT_SETTINGS.has(key)).sort()),
    ...differing(a.run.environment, b.run.environment, CODE),
  ];
}

/** Reasons not to compare times of two runs; none if each ran alone on the same machine. */
export function differentMachines(a: ComparedRun, b: ComparedRun): RunDifference[] {
  const machine = ({ run: { environment } }: ComparedRun) => ({ ...environment, compute: deviceName(environment) });
  const load = ({ settings: { workers } }: ComparedRun) =>
    workers === undefined ? 'one process' : `${workers as number} workers at once`;
  const isLoaded = [a, b].some(({ settings }) => settings['workers'] !== undefined);
  return [
    ...differing(machine(a), machine(b), MACHINE),
    ...(isLoaded ? [{ what: 'load', a: load(a), b: load(b) }] : []),
  ];
}

/** The arms to compare. @param names `rag`, or `rag/dki`. Default: all in both runs @throws BenchError `not-found` */
export function armPairs(a: ComparedRun, b: ComparedRun, names: readonly string[] | undefined): ArmPair[] {
  if (names === undefined) {
    const common = a.arms.filter((arm) => b.arms.includes(arm));
    if (common.length > 0) return common.map((arm) => ({ a: arm, b: arm }));
    const message = `runs "${a.run.name}" and "${b.run.name}" have no arm in common`;
    const hint = `name one of each with --arms ${a.arms[0] ?? 'A'}/${b.arms[0] ?? 'B'}: ${a.arms.join(', ')} against ${b.arms.join(', ')}`;
    throw new BenchError('not-found', message, hint);
  }
  const requireArm = ({ run, arms }: ComparedRun, arm: string): string => {
    if (arms.includes(arm)) return arm;
    const message = `run "${run.name}" has no arm "${arm}"${didYouMean(arm, arms)}`;
    throw new BenchError('not-found', message, `it has ${arms.join(', ')}`);
  };
  return names.map((name) => {
    const [first = '', second = first] = name.split('/', 2);
    return { a: requireArm(a, first), b: requireArm(b, second) };
  });
}
