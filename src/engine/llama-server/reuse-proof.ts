import { BenchError } from '../../base/bench-error.ts';
import type { PromptTokens } from '../../store/records/engine-audit.ts';
import type { CallOptions } from '../engine-session.ts';
import { readPromptCounters } from '../http/prompt-counters.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import type { TokenId } from '../token-id.ts';
import { completionShape } from './server-shapes.ts';

/**
 * Proves that a slot answers from what it holds and from nothing else: of a prompt, another one with another first token, and
 * the first again, the third must find nothing, though it was evaluated before; sent once more, it must be found. What the
 * server says of each must be what its counters say of all.
 * @param prompts two lists of ids with other first ids
 * @throws BenchError `bad-option` where a cache of the server's own answered; `protocol` where its numbers do not agree
 */
export async function proveReuse(
  connection: ServerConnection,
  [first, second]: readonly [readonly TokenId[], readonly TokenId[]],
  options: CallOptions,
): Promise<void> {
  const { url, errors } = connection;
  const ask = (ids: readonly TokenId[]): Promise<PromptTokens> => askOnce(connection, ids, options);
  const before = await countersOf(connection, options);
  const answers = [await ask(first), await ask(second), await ask(first), await ask(first)];
  const after = await countersOf(connection, options);
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
  const evaluated = answers.reduce((sum, answer) => sum + answer.evaluated, 0);
  if (after.evaluated - before.evaluated !== evaluated) {
    const counted = after.evaluated - before.evaluated;
    throw errors.protocol(
      `says that it evaluated ${evaluated} tokens, and its counters say ${counted}; is it used by others?`,
    );
  }
  const reused = answers.reduce((sum, answer) => sum + answer.reused!, 0);
  if (after.reused !== null && before.reused !== null && after.reused - before.reused !== reused) {
    const counted = after.reused - before.reused;
    throw errors.protocol(
      `says that it reused ${reused} tokens, and its counters say ${counted}; is it used by others?`,
    );
  }
}

async function askOnce(
  connection: ServerConnection,
  ids: readonly TokenId[],
  options: CallOptions,
): Promise<PromptTokens> {
  const body = { prompt: ids, id_slot: 0, n_predict: 0, cache_prompt: true, n_cache_reuse: 0, return_tokens: true };
  const { timings } = await connection.post('/completion', body, completionShape, options);
  return { evaluated: timings.prompt_n, reused: timings.cache_n ?? ids.length - timings.prompt_n };
}

async function countersOf(connection: ServerConnection, options: CallOptions): Promise<PromptTokens> {
  const counters = await readPromptCounters(connection, options);
  if (counters === null) throw connection.errors.protocol('has no counter prompt_tokens_total in /metrics');
  return counters;
}
