import type { CallOptions } from '../engine-session.ts';
import type { EngineCapabilities } from '../engine-capabilities.ts';
import { listedOf } from '../http/forced-score.ts';
import { PromptLedger } from '../http/prompt-ledger.ts';
import type { TokenId } from '../token-id.ts';
import { AnswerStream } from './answer-stream.ts';
import type { CacheNames } from './cache-names.ts';
import type { CallParts, Scoring } from './named-calls.ts';
import { optional } from './optional.ts';
import { PromptSender, type Sent } from './prompt-sender.ts';
import { proveReuse } from './reuse-proof.ts';
import type { AnswerTelling } from './v1-generation.ts';
import { forcedToken, givesPromptScores } from './v1-scores.ts';
import type { V1Server } from './v1-server.ts';
import { completionShape } from './v1-shapes.ts';

/** Likeliest tokens that servers list, the longest list first: vLLM gives 20 where nothing else was asked for. */
const LISTED_TOKENS = [20, 5, 1];
const TEXT = 'The river runs past the old mill.';

const NO_STATES = 'an OpenAI-compatible server gives no K/V out and takes none in: take llama-cpp or llama-server';
const AS_TEXT = 'the server refuses prompts of token ids: they are sent as text, which it may tokenise otherwise';
const NO_SCORES = 'the server gives neither prompt_logprobs nor the log-probability of a token that is forced';
const TEXT_HAS_NO_PLACES = 'prompts go as text: nobody knows where in them the tokens of a gold stand';

/** A server that has proven what it can do. */
export interface ProbedV1 extends Omit<CallParts, 'sender' | 'place'> {
  readonly server: V1Server;
  readonly asIds: boolean;
  readonly capabilities: Omit<EngineCapabilities, 'sessions'>;
}

/**
 * Finds out what a server can do, by a few short prompts and four of some hundred tokens.
 * @throws BenchError as `proveReuse`
 */
export async function probeV1(server: V1Server, options: CallOptions): Promise<ProbedV1> {
  const { bosToken } = server.tokenizer.special;
  const [text = []] = await server.tokenizer.tokenize([{ text: TEXT, as: 'text' }], options);
  const ids = [...(bosToken === null ? [] : [bosToken]), ...text];
  const asIds = await takesIds(server, ids, options);
  const { names, prefixCache, missing } = await proveReuse(server, asIds, options);
  const sender = new PromptSender(server, asIds);
  const telling = await tellingOf(sender, ids, names, options);
  const scoring = asIds ? await scoringOf(sender, ids, names, options) : null;
  const logProbabilities = logProbabilitiesOf(scoring);
  return {
    ...{ server, asIds, names, prefixCache, telling, scoring },
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

/** The sender of an engine, which keeps its books from now on. */
export async function bookedSender(
  { server, asIds }: ProbedV1,
  options: CallOptions,
): Promise<[PromptSender, PromptLedger]> {
  const ledger = await PromptLedger.open(server.connection, options);
  return [new PromptSender(server, asIds, ledger), ledger];
}

/** @throws the server's own refusal where it takes no text either */
async function takesIds(
  { connection, model }: V1Server,
  prompt: readonly TokenId[],
  options: CallOptions,
): Promise<boolean> {
  const ask = (asked: unknown) =>
    connection.post('/v1/completions', { model: model.id, prompt: asked, max_tokens: 1 }, completionShape, options);
  if ((await optional(ask(prompt))) !== undefined) return true;
  await ask(TEXT);
  return false;
}

async function tellingOf(
  sender: PromptSender,
  ids: readonly TokenId[],
  names: CacheNames,
  options: CallOptions,
): Promise<AnswerTelling> {
  const tries = { beside: { return_token_ids: true }, listed: { logprobs: 1 } } as const;
  let reuseAtOnce = false;
  for (const [telling, asked] of Object.entries(tries)) {
    const sent: Sent = { ids, name: names.of(undefined, 0), isFirst: true };
    const events = sender.stream(sent, { max_tokens: 8, ignore_eos: true, ...asked }, options);
    const stream = new AnswerStream(events, sender.server.tokenizer.special.endTokens);
    await stream.next();
    reuseAtOnce = stream.end.timings?.cache_n !== undefined;
    await stream.finish();
    if (stream.tellsIds) return { ids: telling as keyof typeof tries, reuseAtOnce };
  }
  return { ids: 'never', reuseAtOnce };
}

async function scoringOf(
  sender: PromptSender,
  ids: readonly TokenId[],
  names: CacheNames,
  options: CallOptions,
): Promise<Scoring> {
  for (const listed of LISTED_TOKENS) {
    const sent = { ids, name: names.of(undefined, 0), isFirst: true };
    if ((await optional(givesPromptScores(sender, sent, listed, options))) === true) return { by: 'prompt', listed };
  }
  const { vocabularySize } = sender.server.description;
  const plainToken = ids.at(-1)!;
  if (vocabularySize === null) return null;
  const sent = { ids, name: names.of(undefined, 0), isFirst: true };
  const forced = await optional(forcedToken(sender, { token: plainToken, count: 1 }, sent, options));
  return forced?.found?.id === plainToken
    ? { by: 'force', model: { vocabularySize, plainToken, listed: listedOf(vocabularySize) } }
    : null;
}

function logProbabilitiesOf(scoring: Scoring): EngineCapabilities['logProbabilities'] {
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
