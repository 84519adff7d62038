import { BenchError } from '../base/bench-error.ts';
import { runWorker, type WorkerTask } from '../eval/run/workers/workers.ts';
import { suitesNamed } from '../eval/suites/suites.ts';
import { selectEngine } from './select-engine.ts';
import { exitCodes } from '../base/exit-codes.ts';
import type { FromWorker, ToWorker } from './start-worker.ts';

const GRACE_MS = 400;

const controller = new AbortController();
let begin: () => void;
const begun = new Promise<void>((resolve) => (begin = resolve));

/** Exits soon; another worker answers all turns of the current user again. */
function stop(): void {
  controller.abort();
  begin();
  setTimeout(() => process.exit(exitCodes.interrupted), GRACE_MS);
}

function tell(message: FromWorker, then?: () => void): void {
  process.send!(message, undefined, undefined, () => then?.());
}

async function work(task: WorkerTask): Promise<void> {
  try {
    const [suite] = suitesNamed([task.suite]);
    await runWorker(task, suite!, selectEngine, {
      begun,
      onTurn: (turns) => tell({ turns }),
      onUser: () => tell({ user: true }),
      signal: controller.signal,
    });
    process.exit(exitCodes.ok);
  } catch (error) {
    const isExpected = error instanceof BenchError || controller.signal.aborted;
    const { message, stack = message } = error as Error;
    if (!isExpected) process.stderr.write(`${stack}\n`);
    tell({ failure: message }, () => process.exit(exitCodes.bug));
  }
}

// The process that started this worker is gone.
process.on('disconnect', () => process.exit(exitCodes.interrupted));
process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop);
process.on('message', (message: ToWorker) => {
  if ('task' in message) void work(message.task);
  else begin();
});
