import { type EngineCapabilities, serverCapabilities } from '../engine-capabilities.ts';
import type { CallOptions } from '../engine-session.ts';
import { type ScoredModel, scoredModel } from '../http/forced-score.ts';
import { openPromptTokenLedger } from '../http/prompt-token-ledger.ts';
import { optional } from '../http/server-errors.ts';
import type { TokenIds } from '../token-id.ts';
import { type CacheName, cacheNames, type CacheNames, cacheNamesByLine } from './cache-isolation.ts';
import { completionShape, type Counts, PromptSender, type Prompt } from './prompt-sender.ts';
import { AnswerStream, type Reporting } from './v1-generation.ts';
import { forcedToken, givesPromptScores } from './v1-scores.ts';
import type { V1Server } from './describe-v1-server.ts';

const TRIED_TOKENS = 8;
/** How many log-probabilities per position to request, in order of trial; vLLM allows 20 by default. */
const LISTED_TOKENS = [20, 5, 1];
const TEXT = 'The river runs past the old mill.';
/** Prompt length, a power of two so that the number of reused tokens shows the block size. Larger blocks count as no cache. */
const PROOF_TOKENS = 256;
const PROOF_TEXT = ' The river runs past the old mill and the stone bridge, where we met a painter that winter.';

const NO_STATES = 'an OpenAI-compatible server neither exports nor imports KV: use --engine llama-cpp or llama-server';
const AS_TEXT = 'the server refuses prompts of token ids: they are sent as text, which it may tokenise differently';
const NO_SCORES = 'the server gives neither prompt_logprobs nor the log-probability of a forced token';
const NO_TOKEN_POSITIONS = 'prompts are sent as text, so the positions of gold tokens are unknown';
const NO_CACHE =
  'the server reused nothing of a prompt sent twice: start it with prefix caching (vLLM: --enable-prefix-caching)';
const NOT_ISOLATED =
  'the server caches one prompt per slot and does not isolate users: use --engine llama-server, which saves prompts to files';
const EVICTED =
  "another prompt evicted an earlier one from the server's cache: start it with more slots, or a larger cache";

/** How the server reuses prompts, and the reason for each missing kind of reuse. */
interface ProvenReuse extends Pick<EngineCapabilities, 'prefixCache' | 'missing'> {
  readonly names: CacheNames;
}

/** How a server scores a continuation: by log-probabilities of prompt tokens, or by forcing token after token; null if it cannot. */
export type Scoring =
  { readonly by: 'prompt'; readonly listed: number } | { readonly by: 'force'; readonly model: ScoredModel } | null;

export type ProbedServer = Awaited<ReturnType<typeof probeServer>>;

/**
 * Tests a server's capabilities, by a few short prompts and up to twelve of some hundred tokens.
 * @throws BenchError `protocol` as `proveReuse`
 */
export async function probeServer(server: V1Server, options: CallOptions) {
  const ids = await promptIds(server, TEXT, options);
  const asIds = await takesIds(server, ids, options);
  const { names, prefixCache, missing } = await proveReuse(server, asIds, options);
  const sender = new PromptSender(server, asIds);
  const newPrompt = (): Prompt => ({ ids, name: names.name(), isFirst: true });
  const reporting = await probeReporting(sender, newPrompt, options);
  const scoring = asIds ? await probeScoring(sender, newPrompt, options) : null;
  const scores = describeScoring(scoring, asIds);
  const states = ['checkpoints', 'cells', 'sharedPositions', 'shift', 'firstLayers', 'queries'] as const;
  return {
    server,
    asIds,
    names,
    reporting,
    scoring,
    capabilities: {
      tokenIds: asIds,
      logProbabilities: scores.logProbabilities,
      prefixCache,
      checkpoints: false,
      cells: null,
      ...serverCapabilities,
      missing: {
        ...missing,
        ...(asIds ? {} : { tokenIds: AS_TEXT }),
        ...scores.missing,
        ...Object.fromEntries(states.map((name) => [name, NO_STATES])),
      },
    } satisfies Omit<EngineCapabilities, 'sessions'>,
  };
}

/** Ids of a prompt, after BOS if the model has one. */
async function promptIds({ tokenizer }: V1Server, text: string, options: CallOptions): Promise<TokenIds> {
  const { bosToken } = tokenizer.special;
  const [ids = []] = await tokenizer.tokenize([{ text, as: 'text' }], options);
  return bosToken === null ? ids : [bosToken, ...ids];
}

/** True if the server takes prompts of token ids. @throws the server's refusal if it takes no text either */
async function takesIds({ connection, model }: V1Server, ids: TokenIds, options: CallOptions): Promise<boolean> {
  const send = (prompt: unknown) =>
    connection.post('/v1/completions', { model: model.id, prompt, max_tokens: 1 }, completionShape, options);
  if ((await optional(send(ids))) !== undefined) return true;
  await send(TEXT);
  return false;
}

/**
 * Finds a way to keep prompts under different cache names from sharing cached tokens: a salt, else switching the cache off for the first
 * request, else a first line of its own. Then describes the reuse under one name. A server may refuse or ignore salts and switches.
 * @throws BenchError `protocol` if nothing isolates names, if reuse is not reported, or if counts differ
 */
async function proveReuse(server: V1Server, asIds: boolean, options: CallOptions): Promise<ProvenReuse> {
  for (const names of [cacheNames('salt'), cacheNames('switch')]) {
    const counts = await optional(tryNames(server, asIds, names, options));
    if (counts !== undefined && reuseAcrossNames(counts) === 0) return describeReuse(names, counts);
  }
  const lines = await cacheNamesByLine(
    async (text) => (await server.tokenizer.tokenize([{ text, as: 'text' }], options))[0]!,
  );
  const counts = await tryNames(server, asIds, lines, options);
  const reused = reuseAcrossNames(counts);
  if (reused === 0) return describeReuse(lines, counts);
  throw server.connection.errors.protocol(`reused ${reused} tokens of a prompt under a new name`);
}

/**
 * Sends one prompt four times: under a new name, again, under another new name, and under the first name. The second shows whether
 * and in which blocks it is cached, the third whether names are isolated, the last whether the cache keeps several prompts. Counts in
 * the answers must add up to the server's counters.
 */
async function tryNames(server: V1Server, asIds: boolean, names: CacheNames, options: CallOptions) {
  const ledger = await openPromptTokenLedger(server.connection, options);
  const sender = new PromptSender(server, asIds, ledger);
  const opened = await promptIds(server, PROOF_TEXT.repeat(PROOF_TOKENS / 8), options);
  const ids = opened.slice(0, PROOF_TOKENS - names.lineTokens);
  const send = async (name: CacheName, isFirst: boolean): Promise<Counts> =>
    (await sender.complete({ ids, name, isFirst }, { max_tokens: 1 }, options)).counts;
  const [one, two] = [names.name(), names.name()];
  const [first, repeated] = [await send(one, true), await send(one, false)];
  const [otherName, firstName] = [await send(two, true), await send(one, false)];
  await ledger.requireAgreement(options);
  return { first, repeated, otherName, firstName };
}

function reuseAcrossNames({ first, otherName }: Awaited<ReturnType<typeof tryNames>>): number {
  return first.reused || otherName.reused;
}

function describeReuse(names: CacheNames, { repeated, firstName }: Awaited<ReturnType<typeof tryNames>>): ProvenReuse {
  if (repeated.reused === 0) {
    return { names, prefixCache: null, missing: { prefixCache: NO_CACHE, promptCache: NO_CACHE } };
  }
  // The prompt is a whole number of blocks, and its last token is always evaluated: so just the last block is.
  const blockTokens = repeated.evaluated;
  const promptCache = names.kind === 'switch' ? NOT_ISOLATED : firstName.reused < repeated.reused ? EVICTED : undefined;
  return promptCache === undefined
    ? { names, prefixCache: { span: 'engine', blockTokens }, missing: {} }
    : { names, prefixCache: { span: 'session', blockTokens }, missing: { promptCache } };
}

async function probeReporting(sender: PromptSender, newPrompt: () => Prompt, options: CallOptions): Promise<Reporting> {
  const tries = { beside: { return_token_ids: true }, listed: { logprobs: 1 } } as const;
  let reportsReuseEarly = false;
  for (const ids of ['beside', 'listed'] as const) {
    const events = sender.stream(newPrompt(), { max_tokens: TRIED_TOKENS, ignore_eos: true, ...tries[ids] }, options);
    const { connection, tokenizer } = sender.server;
    const bounds = { maxTokens: TRIED_TOKENS, errors: connection.errors };
    const stream = new AnswerStream(events, tokenizer.special.endTokens, bounds);
    await stream.next();
    reportsReuseEarly = stream.timings?.cache_n !== undefined;
    await stream.finish();
    if (stream.reportsIds) return { ids, reportsReuseEarly };
  }
  return { ids: 'never', reportsReuseEarly };
}

async function probeScoring(sender: PromptSender, newPrompt: () => Prompt, options: CallOptions): Promise<Scoring> {
  for (const listed of LISTED_TOKENS) {
    const gives = await optional(givesPromptScores(sender, newPrompt(), listed, options));
    if (gives === true) return { by: 'prompt', listed };
  }
  const { vocabularySize } = sender.server.description;
  if (vocabularySize === null) return null;
  const prompt = newPrompt();
  const token = prompt.ids.at(-1)!;
  const forced = await optional(forcedToken(sender, prompt, { token, count: 1 }, options));
  return forced?.found?.id === token ? { by: 'force', model: scoredModel(vocabularySize, token) } : null;
}

function describeScoring(scoring: Scoring, asIds: boolean): Pick<EngineCapabilities, 'logProbabilities' | 'missing'> {
  if (scoring === null) {
    const why = asIds ? NO_SCORES : NO_TOKEN_POSITIONS;
    return { logProbabilities: null, missing: { logProbabilities: why, fullDistribution: why } };
  }
  const [next, continuation] =
    scoring.by === 'prompt' ? ([scoring.listed, 'recomputed'] as const) : ([scoring.model.listed, 'steps'] as const);
  const few = { fullDistribution: `the server lists only the ${next} likeliest tokens` };
  return { logProbabilities: { next, continuation }, missing: next === 'all' ? {} : few };
}
