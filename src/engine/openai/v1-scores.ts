import type { CallOptions } from '../engine-session.ts';
import { FORCING_BIAS, type ForcedRequest, type ListedProbabilities } from '../http/forced-score.ts';
import { lnProbability, type SequenceScore } from '../sequence-score.ts';
import type { TokenId, TokenIds } from '../token-id.ts';
import type { Choice, Counts, PromptSender, Prompt } from './prompt-sender.ts';

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
  { ids, ...named }: Prompt,
  { continuation, listed, signal }: CallOptions & { readonly continuation: TokenIds; readonly listed: number },
): Promise<{ readonly score: SequenceScore; readonly counts: Counts }> {
  const { errors } = sender.server.connection;
  const prompt = { ...named, ids: [...ids, ...continuation] };
  const { answer, counts } = await sender.complete(prompt, scoreFields(listed), { signal });
  const [choice] = answer.choices;
  const places = continuation.map((_, index): ReadonlyMap<TokenId, number> => {
    const place = choice?.prompt_logprobs?.[ids.length + prompt.name.line.length + index];
    if (place === null || place === undefined) throw errors.protocol('gives no prompt_logprobs for a gold token');
    return new Map(Object.entries(place).map(([id, { logprob }]) => [Number(id), logprob]));
  });
  const logProbabilities = continuation.map((token, index) => {
    const found = places[index]!.get(token);
    if (found === undefined) throw errors.protocol('gives prompt_logprobs without the prompt token itself');
    return lnProbability(Math.exp(found));
  });
  const next = places[0] ?? behindPrompt(choice);
  if (next === undefined) throw errors.protocol('gives no logprobs for the token after a prompt');
  const tokens = [...next]
    .sort(([a, p], [b, q]) => q - p || a - b)
    .slice(0, listed)
    .map(([id, logProbability]) => ({ id, probability: Math.exp(logProbability) }));
  return { score: { next: { span: 'top', tokens }, logProbabilities }, counts };
}

/** True if the server's answers have the fields that `recomputedScore` needs. */
export async function givesPromptScores(sender: PromptSender, prompt: Prompt, listed: number, options: CallOptions) {
  const { answer } = await sender.complete(prompt, scoreFields(listed), options);
  const [choice] = answer.choices;
  const last = choice?.prompt_logprobs?.[prompt.ids.length + prompt.name.line.length - 1];
  return last?.[String(prompt.ids.at(-1)!)] !== undefined && behindPrompt(choice) !== undefined;
}

/** Forces one token, and reads the probabilities at its position. */
export async function forcedToken(
  sender: PromptSender,
  prompt: Prompt,
  { token, count }: Pick<ForcedRequest, 'token' | 'count'>,
  options: CallOptions,
): Promise<{ readonly found: ListedProbabilities | undefined; readonly counts: Counts }> {
  const fields = { max_tokens: 1, logprobs: count, logit_bias: { [token]: FORCING_BIAS } };
  const { answer, counts } = await sender.complete(prompt, fields, options);
  return { found: answer.choices[0]?.logprobs?.content?.[0], counts };
}

/** Log-probabilities of the token after the prompt, by id; undefined if the server does not write ids. */
function behindPrompt(choice: Choice | undefined): ReadonlyMap<TokenId, number> | undefined {
  const listed = Object.entries(choice?.logprobs?.top_logprobs?.[0] ?? {}).map(
    ([text, logprob]) => [Number(TOKEN.exec(text)?.[1]), logprob] as const,
  );
  return listed.length === 0 || listed.some(([id]) => Number.isNaN(id)) ? undefined : new Map(listed);
}
