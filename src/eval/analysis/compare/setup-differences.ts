import { isDeepStrictEqual } from 'node:util';
import type { RunRecord } from '../../../store/records/run-record.ts';
import { deviceName } from '../device-name.ts';
import type { RunToCompare } from './run-to-compare.ts';

export interface SetupDifference {
  readonly what: string;
  readonly a: string;
  readonly b: string;
}

type Subjects = Pick<RunRecord, 'dataset' | 'model' | 'embedder'>;

/** Settings that `differentSubjects` compares by the hashes of their files. */
const SUBJECT_SETTINGS = new Set(['dataset', 'model']);
const MACHINE = ['platform', 'cpu', 'cores', 'threads', 'compute'] as const;
const CODE = ['benchVersion', 'gitCommit', 'gitDirty', 'node', 'llm'] as const;

const SHOWN_HASH = 12;

type Values = Readonly<Record<string, unknown>>;

function differing(a: Values, b: Values, keys: readonly string[]): SetupDifference[] {
  const show = (value: unknown): string =>
    value === undefined ? 'not set' : typeof value === 'string' ? value : JSON.stringify(value);
  return keys
    .filter((key) => !isDeepStrictEqual(a[key], b[key]))
    .map((what) => ({ what, a: show(a[what]), b: show(b[what]) }));
}

/** Data and models that differ, so that the runs did not ask the same questions of the same system. */
export function differentSubjects(a: Subjects, b: Subjects): SetupDifference[] {
  const names = ({ parts, ...whole }: Pick<RunRecord['dataset'], 'name' | 'sha256' | 'parts'>): string =>
    (parts ?? [whole]).map(({ name, sha256 }) => `${name} (${sha256.slice(0, SHOWN_HASH)})`).join(' + ');
  return (['dataset', 'model', 'embedder'] as const)
    .filter((part) => a[part].sha256 !== b[part].sha256 || (a[part].sha256 === '' && a[part].name !== b[part].name))
    .map((part) => ({ what: part === 'dataset' ? 'data set' : part, a: names(a[part]), b: names(b[part]) }));
}

/** Settings and code that differ: possible causes of different numbers. */
export function differentSettings(a: RunToCompare, b: RunToCompare): SetupDifference[] {
  const keys = [...new Set([...Object.keys(a.settings), ...Object.keys(b.settings)])];
  return [
    ...differing(a.settings, b.settings, keys.filter((key) => !SUBJECT_SETTINGS.has(key)).sort()),
    ...differing(a.run.environment, b.run.environment, CODE),
  ];
}

/** Reasons not to compare times of two runs; none if both ran under the same load on the same machine. */
export function differentMachines(a: RunToCompare, b: RunToCompare): SetupDifference[] {
  const machine = ({ run: { environment } }: RunToCompare) => ({ ...environment, compute: deviceName(environment) });
  const load = ({ settings: { workers } }: RunToCompare) =>
    workers === undefined ? 'one process' : `${workers as number} workers at once`;
  return [...differing(machine(a), machine(b), MACHINE), ...differing({ load: load(a) }, { load: load(b) }, ['load'])];
}
