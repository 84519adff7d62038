import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchError } from '../../base/bench-error.ts';
import type { CallOptions } from '../engine-session.ts';
import type { LlamaCppOptions } from './load-model.ts';
import type { TrialReport } from './try-model.ts';
import { cacheFolder } from '../../config/cache-folder.ts';
import { languageModelWithHash } from '../../models/model-registry.ts';

const MIN_MS = 120_000;
/** Enough for a slow disk and a slow CPU. */
const MS_PER_BYTE = 120_000 / 2 ** 30;
const MAX_STDERR = 4000;

export interface TrialOptions extends CallOptions {
  readonly llamaCpp: LlamaCppOptions;
  /** Default: two minutes, and two more for each GiB of the file. */
  readonly timeoutMs?: number;
}

/**
 * Tries an unknown model once in another process, because some well-formed files crash llama.cpp.
 * @param sha256 of the file, in hex; names the record of a successful trial
 * @throws BenchError `bad-model` if the process crashed or hung; the error of the trial; the signal's reason
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
  const hint = 'do not use this file: download the model again, from a source that you trust';
  throw new BenchError('bad-model', `${path}: ${describeFailure(ended, timeoutMs)}`, hint);
}

async function runTrial(path: string, { llamaCpp, signal }: TrialOptions, timeoutMs: number) {
  const own = fileURLToPath(import.meta.url);
  const extension = extname(own);
  const child = fork(join(dirname(own), `trial-process${extension}`), [path, JSON.stringify(llamaCpp)], {
    // The TypeScript sources need tsx.
    execArgv: extension === '.ts' ? ['--import', import.meta.resolve('tsx')] : [],
    // Keeps GGML from starting a debugger when it aborts.
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

function describeFailure(ended: Awaited<ReturnType<typeof runTrial>>, timeoutMs: number): string {
  const { isOverdue, how, stderr } = ended;
  if (isOverdue) return `llama.cpp did not load it and answer within ${Math.round(timeoutMs / 1000)} s`;
  const assertion = /GGML_ASSERT\(.*\) failed|GGML_ABORT.*/.exec(stderr)?.[0];
  return `llama.cpp crashed on it (${assertion ?? how})`;
}

/** Path of an empty file that records a successful trial. */
const trialRecordPath = (sha256: string): string => join(cacheFolder(), 'tried-models', sha256);

/** True if this machine has tried the model, or if the model registry lists it. */
export function isKnownModel(sha256: string): boolean {
  return languageModelWithHash(sha256) !== undefined || existsSync(trialRecordPath(sha256));
}

function rememberModel(sha256: string): void {
  try {
    mkdirSync(trialRecordPath(''), { recursive: true });
    writeFileSync(trialRecordPath(sha256), '');
  } catch {
    // Without a writable cache, the model is tried at every load.
  }
}
