import type { CallOptions } from '../engine-session.ts';
import { CERTAIN, type ForcedRequest, type ListedProbabilities } from '../http/forced-score.ts';
import { logProbabilityOf } from '../next-distribution.ts';
import type { SequenceScore } from '../sequence-score.ts';
import type { TokenId, TokenIds } from '../token-id.ts';
import type { Choice, Counted, PromptSender, Sent } from './prompt-sender.ts';

const TOKEN = /^token_id:(\d+)$/;

const scoreFields = (listed: number): object => ({
  max_tokens: 1,
  prompt_logprobs: listed,
  logprobs: listed,
  return_tokens_as_token_ids: true,
});

/** Scores a continuation by the server's `prompt_logprobs`, which evaluates the whole sequence without the prefix cache. */
export async function recomputedScore(
  sender: PromptSender,
  { ids, ...named }: Sent,
  { continuation, listed, signal }: CallOptions & { readonly continuation: TokenIds; readonly listed: number },
): Promise<{ readonly score: SequenceScore; readonly counted: Counted }> {
  const { errors } = sender.server.connection;
  const sent = { ...named, ids: [...ids, ...continuation] };
  const { answer, counted } = await sender.complete(sent, scoreFields(listed), { signal });
  const [choice] = answer.choices;
  const places = continuation.map((_, index): ReadonlyMap<TokenId, number> => {
    const place = choice?.prompt_logprobs?.[ids.length + sent.name.line.length + index];
    if (place === null || place === undefined) throw errors.protocol('gives no prompt_logprobs for a gold token');
    return new Map(Object.entries(place).map(([id, { logprob }]) => [Number(id), logprob]));
  });
  const logProbabilities = continuation.map((token, index) => {
    const found = places[index]!.get(token);
    if (found === undefined) throw errors.protocol('gives prompt_logprobs without the prompt token itself');
    return logProbabilityOf(Math.exp(found));
  });
  const next = places[0] ?? behindPrompt(choice);
  if (next === undefined) throw errors.protocol('gives no logprobs for the token after a prompt');
  const tokens = [...next]
    .sort(([a, p], [b, q]) => q - p || a - b)
    .slice(0, listed)
    .map(([id, logProbability]) => ({ id, probability: Math.exp(logProbability) }));
  return { score: { next: { span: 'top', tokens }, logProbabilities }, counted };
}

/** True if the server's answers have the fields that `recomputedScore` needs. */
export async function givesPromptScores(
  sender: PromptSender,
  sent: Sent,
  listed: number,
  options: CallOptions,
): Promise<boolean> {
  const { answer } = await sender.complete(sent, scoreFields(listed), options);
  const [choice] = answer.choices;
  const last = choice?.prompt_logprobs?.[sent.ids.length + sent.name.line.length - 1];
  return last?.[String(sent.ids.at(-1)!)] !== undefined && behindPrompt(choice) !== undefined;
}

/** Forces one token, and reads the probabilities at its position. */
export async function forcedToken(
  sender: PromptSender,
  sent: Sent,
  { token, count }: Pick<ForcedRequest, 'token' | 'count'>,
  options: CallOptions,
): Promise<{ readonly found: ListedProbabilities | undefined; readonly counted: Counted }> {
  const fields = { max_tokens: 1, logprobs: count, logit_bias: { [token]: CERTAIN } };
  const { answer, counted } = await sender.complete(sent, fields, options);
  return { found: answer.choices[0]?.logprobs?.content?.[0], counted };
}

/** Log-probabilities of the token after the prompt, by id; undefined if the server does not write ids. */
function behindPrompt(choice: Choice | undefined): ReadonlyMap<TokenId, number> | undefined {
  const listed = Object.entries(choice?.logprobs?.top_logprobs?.[0] ?? {}).map(
    ([text, logprob]) => [Number(TOKEN.exec(text)?.[1]), logprob] as const,
  );
  return listed.length === 0 || listed.some(([id]) => Number.isNaN(id)) ? undefined : new Map(listed);
}
