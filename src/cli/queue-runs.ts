import type { BenchConfig } from '../config/bench-config.ts';
import { BenchError } from '../base/bench-error.ts';
import { QueueConnection } from '../store/queue/queue-connection.ts';

/** Opens the queue that `--queue` names. @throws BenchError `bad-option` without one, or for an invalid address */
export function openQueue({ queue }: Pick<BenchConfig, 'queue'>): QueueConnection {
  if (queue === undefined) {
    throw new BenchError('bad-option', 'no queue is named', 'give --queue postgres://…, or DKI_BENCH_QUEUE');
  }
  return new QueueConnection(queue);
}
