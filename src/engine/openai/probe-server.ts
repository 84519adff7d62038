import type { EngineCapabilities } from '../engine-capabilities.ts';
import type { CallOptions } from '../engine-session.ts';
import { scoredModel } from '../http/forced-score.ts';
import { optional } from '../http/server-errors.ts';
import type { TokenIds } from '../token-id.ts';
import type { CacheNames } from './cache-names.ts';
import type { CallParts, Scoring } from './cached-calls.ts';
import { PromptSender, type Sent } from './prompt-sender.ts';
import { proveReuse } from './reuse-proof.ts';
import { AnswerStream, type AnswerTelling } from './v1-generation.ts';
import { forcedToken, givesPromptScores } from './v1-scores.ts';
import type { V1Server } from './v1-server.ts';
import { completionShape } from './v1-shapes.ts';

/** Numbers of listed tokens to try: vLLM gives 20 by default. */
const LISTED_TOKENS = [20, 5, 1];
const TEXT = 'The river runs past the old mill.';

const NO_STATES = 'an OpenAI-compatible server gives no KV out and takes none in: take llama-cpp or llama-server';
const AS_TEXT = 'the server refuses prompts of token ids: they are sent as text, which it may tokenise otherwise';
const NO_SCORES = 'the server gives neither prompt_logprobs nor the log-probability of a token that is forced';
const TEXT_HAS_NO_PLACES = 'prompts go as text, in which the places of the tokens of a gold are unknown';

/** A server that has proven what it can do. */
export interface ProbedServer {
  readonly server: V1Server;
  readonly asIds: boolean;
  readonly calls: Omit<CallParts, 'sender' | 'place'>;
  readonly capabilities: Omit<EngineCapabilities, 'sessions'>;
}

/**
 * Finds out what a server can do, by a few short prompts and four of some hundred tokens.
 * @throws BenchError as `proveReuse`
 */
export async function probeServer(server: V1Server, options: CallOptions): Promise<ProbedServer> {
  const { bosToken } = server.tokenizer.special;
  const [text = []] = await server.tokenizer.tokenize([{ text: TEXT, as: 'text' }], options);
  const ids = [...(bosToken === null ? [] : [bosToken]), ...text];
  const asIds = await takesIds(server, ids, options);
  const { names, prefixCache, missing } = await proveReuse(server, asIds, options);
  const sender = new PromptSender(server, asIds);
  const telling = await probeTelling(sender, ids, names, options);
  const scoring = asIds ? await probeScoring(sender, ids, names, options) : null;
  const logProbabilities = describeScoring(scoring);
  return {
    server,
    asIds,
    calls: { names, prefixCache, telling, scoring },
    capabilities: {
      tokenIds: asIds,
      logProbabilities,
      prefixCache,
      checkpoints: false,
      cells: null,
      shift: false,
      firstLayers: false,
      queries: false,
      leastTokens: 2,
      exactCuts: false,
      missing: {
        ...missing,
        ...(asIds ? {} : { tokenIds: AS_TEXT }),
        ...missingScores(logProbabilities, asIds),
        checkpoints: NO_STATES,
        cells: NO_STATES,
        sharedPositions: NO_STATES,
        shift: NO_STATES,
        firstLayers: NO_STATES,
        queries: NO_STATES,
      },
    },
  };
}

/** @throws the server's own refusal where it takes no text either */
async function takesIds({ connection, model }: V1Server, ids: TokenIds, options: CallOptions): Promise<boolean> {
  const send = (prompt: unknown) =>
    connection.post('/v1/completions', { model: model.id, prompt, max_tokens: 1 }, completionShape, options);
  if ((await optional(send(ids))) !== undefined) return true;
  await send(TEXT);
  return false;
}

async function probeTelling(
  sender: PromptSender,
  ids: TokenIds,
  names: CacheNames,
  options: CallOptions,
): Promise<AnswerTelling> {
  const tries = { beside: { return_token_ids: true }, listed: { logprobs: 1 } } as const;
  let reuseAtOnce = false;
  for (const [telling, fields] of Object.entries(tries)) {
    const sent: Sent = { ids, name: names.name(undefined, 0), isFirst: true };
    const events = sender.stream(sent, { max_tokens: 8, ignore_eos: true, ...fields }, options);
    const stream = new AnswerStream(events, sender.server.tokenizer.special.endTokens);
    await stream.next();
    reuseAtOnce = stream.timings?.cache_n !== undefined;
    await stream.finish();
    if (stream.tellsIds) return { ids: telling as keyof typeof tries, reuseAtOnce };
  }
  return { ids: 'never', reuseAtOnce };
}

async function probeScoring(
  sender: PromptSender,
  ids: TokenIds,
  names: CacheNames,
  options: CallOptions,
): Promise<Scoring> {
  const newSent = (): Sent => ({ ids, name: names.name(undefined, 0), isFirst: true });
  for (const listed of LISTED_TOKENS) {
    if ((await optional(givesPromptScores(sender, newSent(), listed, options))) === true) {
      return { by: 'prompt', listed };
    }
  }
  const { vocabularySize } = sender.server.description;
  const token = ids.at(-1)!;
  if (vocabularySize === null) return null;
  const forced = await optional(forcedToken(sender, newSent(), { token, count: 1 }, options));
  return forced?.found?.id === token ? { by: 'force', model: scoredModel(vocabularySize, token) } : null;
}

function describeScoring(scoring: Scoring): EngineCapabilities['logProbabilities'] {
  if (scoring === null) return null;
  return scoring.by === 'prompt'
    ? { next: scoring.listed, continuation: 'recomputed' }
    : { next: scoring.model.listed, continuation: 'steps' };
}

function missingScores(
  found: EngineCapabilities['logProbabilities'],
  asIds: boolean,
): Readonly<Partial<Record<'logProbabilities' | 'fullDistribution', string>>> {
  if (found === null) {
    const why = asIds ? NO_SCORES : TEXT_HAS_NO_PLACES;
    return { logProbabilities: why, fullDistribution: why };
  }
  return found.next === 'all' ? {} : { fullDistribution: `the server lists the likeliest ${found.next} tokens alone` };
}
