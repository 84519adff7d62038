import { BenchError } from '../../base/bench-error.ts';
import type { PromptTokens } from '../../store/records/run-probes.ts';
import type { CallOptions } from '../engine-session.ts';
import { counterDifference, readPromptCounters } from '../http/prompt-ledger.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import type { TokenIds } from '../token-id.ts';
import { completionShape, promptTokens } from './slot.ts';

/**
 * Proves that a slot answers from what it holds and from nothing else. It evaluates a prompt, another one with another first
 * token, and the first again: that one must find nothing, though it was evaluated before; sent once more, it must be found.
 * The sum of the answers' counts must equal the server's counters.
 * @param prompts two lists of ids with different first ids
 * @throws BenchError `bad-option` where a cache of the server's own answered; `protocol` where counts differ
 */
export async function proveReuse(
  connection: ServerConnection,
  [first, second]: readonly [TokenIds, TokenIds],
  options: CallOptions,
): Promise<void> {
  const { url, errors } = connection;
  const answers: { readonly evaluated: number; readonly reused: number }[] = [];
  const before = await requireCounters(connection, options);
  for (const prompt of [first, second, first, first]) {
    const body = { prompt, id_slot: 0, n_predict: 0, cache_prompt: true, n_cache_reuse: 0, return_tokens: true };
    const { timings } = await connection.post('/completion', body, completionShape, options);
    answers.push(promptTokens(timings, prompt));
  }
  const counters = counterDifference(await requireCounters(connection, options), before);
  const [, , third, fourth] = answers;
  if (third!.reused !== 0) {
    throw new BenchError(
      'bad-option',
      `${url}: a cache of the server's own answered: ${third!.reused} tokens reused that the slot did not hold`,
      'start it with --cache-ram 0',
    );
  }
  if (fourth!.reused !== first.length - 1) {
    throw errors.protocol(`says that it reused ${fourth!.reused} of ${first.length - 1} tokens that a slot held`);
  }
  for (const count of ['evaluated', 'reused'] as const) {
    const sum = answers.reduce((total, answer) => total + answer[count], 0);
    if (counters[count] === null || counters[count] === sum) continue;
    throw errors.protocol(
      `says that it ${count} ${sum} tokens, and its counters say ${counters[count]}; is it used by others?`,
    );
  }
}

async function requireCounters(connection: ServerConnection, options: CallOptions): Promise<PromptTokens> {
  const counters = await readPromptCounters(connection, options);
  if (counters === null) throw connection.errors.protocol('has no counter prompt_tokens_total in /metrics');
  return counters;
}
