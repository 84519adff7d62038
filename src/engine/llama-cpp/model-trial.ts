import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchError } from '../../base/bench-error.ts';
import type { CallOptions } from '../engine-session.ts';
import type { LlamaCppOptions } from './llama-cpp-options.ts';
import type { TrialReport } from './try-model.ts';
import { cacheFolder } from '../../config/cache-folder.ts';
import { languageModelWithHash } from '../../models/registry.ts';

const MIN_MS = 120_000;
/** For a slow disk, and a slow machine that evaluates a few tokens. */
const MS_PER_BYTE = 120_000 / 2 ** 30;
const MAX_STDERR = 4000;

export interface TrialOptions extends CallOptions {
  readonly llamaCpp: LlamaCppOptions;
  /** Default: two minutes, and two more for each GiB of the file. */
  readonly timeoutMs?: number;
}

/**
 * Tries an unknown model in another process, once: llama.cpp ends its process on some well-formed files.
 * @param sha256 of the file, in hex; a successful trial is recorded under it
 * @throws BenchError `bad-model` where the process crashed or hung, or the error of the trial; the reason of the signal
 */
export async function requireModelTrial(path: string, sha256: string, options: TrialOptions): Promise<void> {
  if (isKnownModel(sha256)) return;
  const timeoutMs = options.timeoutMs ?? MIN_MS + statSync(path).size * MS_PER_BYTE;
  const ended = await runTrial(path, options, timeoutMs);
  options.signal?.throwIfAborted();
  const { report } = ended;
  if (report === null) {
    rememberModel(sha256);
    return;
  }
  if (report !== undefined) throw new BenchError(report.code, report.message, report.hint);
  const hint = 'do not use this file: fetch the model again, from a source that you trust';
  throw new BenchError('bad-model', `${path}: ${describeFailure(ended, timeoutMs)}`, hint);
}

type EndedTrial = Awaited<ReturnType<typeof runTrial>>;

async function runTrial(path: string, { llamaCpp, signal }: TrialOptions, timeoutMs: number) {
  const own = fileURLToPath(import.meta.url);
  const extension = extname(own);
  const child = fork(join(dirname(own), `trial-process${extension}`), [path, JSON.stringify(llamaCpp)], {
    // Run from the sources, it needs tsx.
    execArgv: extension === '.ts' ? ['--import', import.meta.resolve('tsx')] : [],
    // Where it aborts, GGML would start a debugger.
    env: { ...process.env, GGML_NO_BACKTRACE: '1' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let report: TrialReport | undefined;
  let stderr = '';
  let isOverdue = false;
  const end = (): boolean => child.kill('SIGKILL');
  const timer = setTimeout(() => {
    isOverdue = true;
    end();
  }, timeoutMs);
  signal?.addEventListener('abort', end);
  child.on('message', (message) => (report = message as TrialReport));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(0, MAX_STDERR)));
  try {
    const [code, name] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    return { report, isOverdue, stderr, how: name ?? `exit code ${code}` };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

function describeFailure({ isOverdue, how, stderr }: EndedTrial, timeoutMs: number): string {
  if (isOverdue) return `llama.cpp did not load it and answer within ${Math.round(timeoutMs / 1000)} s, and was ended`;
  const assertion = /GGML_ASSERT\(.*\) failed|GGML_ABORT.*/.exec(stderr)?.[0];
  return `llama.cpp crashed on it (${assertion ?? how})`;
}

/** An empty file for each successful trial, named by the hash of the model. */
const markPath = (sha256: string): string => join(cacheFolder(), 'tried-models', sha256);

/** True for a model that this machine has tried, and for one of the registry. */
export function isKnownModel(sha256: string): boolean {
  return languageModelWithHash(sha256) !== undefined || existsSync(markPath(sha256));
}

function rememberModel(sha256: string): void {
  try {
    const mark = markPath(sha256);
    mkdirSync(join(mark, '..'), { recursive: true });
    writeFileSync(mark, '');
  } catch {
    // Without a writable cache every load is tried first.
  }
}
