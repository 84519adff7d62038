import { type ChildProcess, fork } from 'node:child_process';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StartWorker, WorkerTask } from '../eval/run/workers/workers.ts';

export type ToWorker = { readonly task: WorkerTask } | { readonly begin: true };

/** Messages from a worker to the run: turns answered for its current user, a user who is done, why it failed. */
export type FromWorker = { readonly turns: number } | { readonly user: true } | { readonly failure: string };

/** Running workers, all ended by one listener: a listener for each would exceed Node's limit with a warning. */
const running = new Set<ChildProcess>();

function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts a worker as a child process, which ends when this process does. */
export const startWorker: StartWorker = (task, { onTurn, onUser }) => {
  const own = fileURLToPath(import.meta.url);
  const extension = extname(own);
  const child = fork(join(dirname(own), `worker-process${extension}`), [], {
    // When run from source (.ts), the worker is loaded by tsx.
    execArgv: extension === '.ts' ? ['--import', import.meta.resolve('tsx')] : [],
    // Standard output is reserved for results.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const tell = (message: ToWorker): void => {
    // If the worker has exited, `ended` reports it.
    if (child.connected) child.send(message, () => undefined);
  };
  if (running.size === 0) process.on('exit', killAll);
  running.add(child);
  let failure: string | undefined;
  child.on('message', (message: FromWorker) => {
    if ('turns' in message) onTurn(message.turns);
    else if ('user' in message) onUser();
    else ({ failure } = message);
  });
  tell({ task });
  const ended = new Promise<string | null>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('exit', (code, signal) => resolve(code === 0 ? null : (failure ?? signal ?? `exit code ${code}`)));
  }).finally(() => {
    running.delete(child);
    if (running.size === 0) process.off('exit', killAll);
  });
  const kill = (): void => void child.kill('SIGKILL');
  return { begin: () => tell({ begin: true }), stop: () => void child.kill('SIGTERM'), kill, ended };
};
