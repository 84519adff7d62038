import { fork } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchError } from '../../../base/bench-error.ts';
import type { CallOptions } from '../../engine-session.ts';
import type { LlamaCppOptions } from '../llama-cpp-options.ts';
import { isKnownModel, rememberModel } from './tried-models.ts';
import type { TrialReport } from './trial-report.ts';

const LEAST_MS = 120_000;
/** Of a slow disk, and of a slow machine that evaluates a few tokens. */
const MS_PER_BYTE = 120_000 / 2 ** 30;
const MOST_STDERR = 4000;

/** Options of a trial. */
export interface TrialOptions extends CallOptions {
  readonly llamaCpp: LlamaCppOptions;
  /** The process is ended after so long. Default: two minutes, and two more for each GiB of the file. */
  readonly timeoutMs?: number;
}

/**
 * Lets a process of its own load a model that nobody knows and answer with it, once: llama.cpp ends the process on some files
 * that are well-formed, and would end this one.
 *
 * @param sha256 of the file, in hex: it is remembered where the trial went well
 * @throws BenchError `bad-model` where the process crashed or hung, and what it was refused with; the reason of the signal
 */
export async function requireTried(path: string, sha256: string, options: TrialOptions): Promise<void> {
  if (isKnownModel(sha256)) return;
  const timeoutMs = options.timeoutMs ?? LEAST_MS + statSync(path).size * MS_PER_BYTE;
  const ended = await runTrial(path, options, timeoutMs);
  options.signal?.throwIfAborted();
  const { report } = ended;
  if (report?.state === 'works') {
    rememberModel(sha256);
    return;
  }
  if (report !== undefined) throw new BenchError(report.code, report.message, report.hint);
  const hint = 'do not use this file: fetch the model again, from a source that you trust';
  throw new BenchError('bad-model', `${path}: ${whyOf(ended, timeoutMs)}`, hint);
}

interface EndedTrial {
  readonly report: TrialReport | undefined;
  readonly isOverdue: boolean;
  readonly how: string;
  readonly stderr: string;
}

function runTrial(path: string, { llamaCpp, signal }: TrialOptions, timeoutMs: number): Promise<EndedTrial> {
  const own = fileURLToPath(import.meta.url);
  const extension = extname(own);
  const child = fork(join(dirname(own), `trial-process${extension}`), [path, JSON.stringify(llamaCpp)], {
    // From the sources it is started as they are.
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
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(0, MOST_STDERR)));
  return new Promise<EndedTrial>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, name) => resolve({ report, isOverdue, stderr, how: name ?? `exit code ${code}` }));
  }).finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  });
}

function whyOf({ isOverdue, how, stderr }: EndedTrial, timeoutMs: number): string {
  if (isOverdue) return `llama.cpp did not load it and answer within ${Math.round(timeoutMs / 1000)} s, and was ended`;
  const assertion = /GGML_ASSERT\(.*\) failed|GGML_ABORT.*/.exec(stderr)?.[0];
  return `llama.cpp crashed on it (${assertion ?? how})`;
}
