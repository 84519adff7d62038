import { isDeepStrictEqual } from 'node:util';
import { BenchError } from '../../../base/bench-error.ts';
import { didYouMean } from '../../../base/nearest-name.ts';
import { placeOfCompute } from '../place-of-compute.ts';
import type { ComparedRun } from './compared-run.ts';

/** Something in which two runs differ. */
export interface RunDifference {
  readonly what: string;
  readonly a: string;
  readonly b: string;
}

/** An arm of the first run, and the arm of the second that it is compared with. */
export interface ArmPair {
  readonly a: string;
  readonly b: string;
}

/** The data and the models of a run. */
export type Subjects = Pick<ComparedRun, 'dataset' | 'model' | 'embedder'>;

/** Compared elsewhere, by their bytes. */
const NOT_A_SETTING = new Set(['dataset', 'model']);
const MACHINE = ['platform', 'cpu', 'cores', 'threads', 'compute'] as const;
const CODE = ['benchVersion', 'gitCommit', 'gitDirty', 'node', 'llm'] as const;

const SHOWN_HASH = 12;

function told(value: unknown): string {
  if (value === undefined) return 'not set';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function differing(
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
  keys: Iterable<string>,
): RunDifference[] {
  return [...keys]
    .filter((key) => !isDeepStrictEqual(a[key], b[key]))
    .map((what) => ({ what, a: told(a[what]), b: told(b[what]) }));
}

/** Data and models in which two runs differ: their items are then not the same questions to the same system. */
export function differentSubjects(a: Subjects, b: Subjects): RunDifference[] {
  const named = ({ parts, ...whole }: Pick<ComparedRun['dataset'], 'name' | 'sha256' | 'parts'>): string =>
    (parts ?? [whole]).map(({ name, sha256 }) => `${name} (${sha256.slice(0, SHOWN_HASH)})`).join(' + ');
  return (['dataset', 'model', 'embedder'] as const)
    .filter((part) => a[part].sha256 !== b[part].sha256)
    .map((part) => ({ what: part === 'dataset' ? 'data set' : part, a: named(a[part]), b: named(b[part]) }));
}

/** Settings and code in which two runs differ: possible causes of a difference between their numbers. */
export function differentSettings(a: ComparedRun, b: ComparedRun): RunDifference[] {
  const keys = [...new Set([...Object.keys(a.settings), ...Object.keys(b.settings)])];
  return [
    ...differing(a.settings, b.settings, keys.filter((key) => !NOT_A_SETTING.has(key)).sort()),
    ...differing(a.environment, b.environment, CODE),
  ];
}

/** Reasons why times of two runs say nothing about each other; none where each ran alone on the same machine. */
export function differentMachines(a: ComparedRun, b: ComparedRun): RunDifference[] {
  const machineOf = ({ environment }: ComparedRun) => ({ ...environment, compute: placeOfCompute(environment) });
  const load = ({ settings }: ComparedRun) =>
    settings['workers'] === undefined ? 'one process' : `${settings['workers'] as number} workers at once`;
  const isLoaded = [a, b].some(({ settings }) => settings['workers'] !== undefined);
  return [
    ...differing(machineOf(a), machineOf(b), MACHINE),
    ...(isLoaded ? [{ what: 'load', a: load(a), b: load(b) }] : []),
  ];
}

function requireArm(run: ComparedRun, arm: string): void {
  if (run.arms.includes(arm)) return;
  const message = `run "${run.name}" has no arm "${arm}"${didYouMean(arm, run.arms)}`;
  throw new BenchError('not-found', message, `it has ${run.arms.join(', ')}`);
}

/**
 * The arms to be compared: those named, or all that both runs have.
 * @param names `rag`, or `rag/dki` for an arm of the first run and another of the second
 * @throws BenchError `not-found` where a run has not that arm, or they have none in common
 */
export function armPairs(a: ComparedRun, b: ComparedRun, names: readonly string[] | undefined): ArmPair[] {
  if (names === undefined) {
    const common = a.arms.filter((arm) => b.arms.includes(arm));
    if (common.length > 0) return common.map((arm) => ({ a: arm, b: arm }));
    const message = `runs "${a.name}" and "${b.name}" have no arm in common`;
    const hint = `name one of each with --arms ${a.arms[0] ?? 'A'}/${b.arms[0] ?? 'B'}: ${a.arms.join(', ')} against ${b.arms.join(', ')}`;
    throw new BenchError('not-found', message, hint);
  }
  return names.map((name) => {
    const [first = '', second = first] = name.split('/', 2);
    requireArm(a, first);
    requireArm(b, second);
    return { a: first, b: second };
  });
}
