import { booksAgree } from '../../store/records/run-probes.ts';
import type { CallOptions } from '../engine-session.ts';
import type { EngineCapabilities } from '../engine-capabilities.ts';
import { PromptLedger } from '../http/prompt-ledger.ts';
import { optional } from '../http/server-errors.ts';
import type { TokenIds } from '../token-id.ts';
import { type CacheName, CacheNames } from './cache-names.ts';
import { type Counted, PromptSender } from './prompt-sender.ts';
import type { V1Server } from './v1-server.ts';

/** A power of two, so that the tokens found show the size of blocks; larger blocks count as no cache. */
const PROOF_TOKENS = 256;
const TEXT = ' The river runs past the old mill and the stone bridge, where we met a painter that winter.';

const NO_CACHE =
  'of a prompt that was sent twice the server reused nothing: start it with a prefix cache (vLLM: --enable-prefix-caching)';
const NO_NAMES =
  'the server keeps one prompt per slot and does not tell users apart: --engine llama-server keeps prompts in files';
const DRIVEN_OUT =
  "another prompt drove an earlier one out of the server's cache: start it with more slots, or a larger cache";

/** How the server reuses earlier prompts. */
export interface ProvenReuse {
  readonly names: CacheNames;
  readonly prefixCache: EngineCapabilities['prefixCache'];
  /** The reason for each of the two that is missing. */
  readonly missing: { readonly prefixCache?: string; readonly promptCache?: string };
}

/**
 * Proves that a server finds prompts of the same name in its prefix cache, and of no other name, by a salt, a switch or a
 * line. A prompt under a new name must find nothing; under the same name again, it shows the cache and its blocks; under
 * another name it must find nothing, though it was evaluated before; and under the first name it must still be there. The
 * counts of the answers must equal the server's counters.
 * @throws BenchError `protocol` where names are not kept apart, where reuse is not reported, and where counts differ
 */
export async function proveReuse(server: V1Server, asIds: boolean, options: CallOptions): Promise<ProvenReuse> {
  // A server without salts or switches may refuse or ignore them.
  for (const names of [CacheNames.bySalt(), CacheNames.bySwitch()]) {
    const trial = await optional(tryNames(server, asIds, names, options));
    if (trial !== undefined && isApart(trial)) return describeReuse(names, trial);
  }
  const tokenize = async (text: string): Promise<TokenIds> =>
    (await server.tokenizer.tokenize([{ text, as: 'text' }], options))[0]!;
  const lines = await CacheNames.byLine(tokenize);
  const trial = await tryNames(server, asIds, lines, options);
  if (isApart(trial)) return describeReuse(lines, trial);
  const { reused } = trial.cold.reused > 0 ? trial.cold : trial.other;
  throw server.connection.errors.protocol(`reused ${reused} tokens of a prompt under a new name`);
}

/** Counts of four answers to the same prompt. */
interface Trial {
  readonly cold: Counted;
  readonly again: Counted;
  readonly other: Counted;
  readonly kept: Counted;
}

async function tryNames(server: V1Server, asIds: boolean, names: CacheNames, options: CallOptions): Promise<Trial> {
  const { connection, tokenizer } = server;
  const ledger = await PromptLedger.open(connection, options);
  const sender = new PromptSender(server, asIds, ledger);
  const { bosToken } = tokenizer.special;
  const [text = []] = await tokenizer.tokenize([{ text: TEXT.repeat(PROOF_TOKENS / 8), as: 'text' }], options);
  const opened = [...(bosToken === null ? [] : [bosToken]), ...text];
  const ids = opened.slice(0, PROOF_TOKENS - names.lineTokens);
  const send = async (name: CacheName, isFirst: boolean): Promise<Counted> =>
    (await sender.complete({ ids, name, isFirst }, { max_tokens: 1 }, options)).counted;
  const [one, two] = [names.name(undefined, 0), names.name(undefined, 0)];
  const [cold, again] = [await send(one, true), await send(one, false)];
  const trial = { cold, again, other: await send(two, true), kept: await send(one, false) };
  const audit = await ledger.audit(options);
  if (audit !== null && !booksAgree(audit)) {
    const { answers, counters } = audit;
    throw connection.errors.protocol(
      `says that it evaluated ${answers.evaluated} tokens and reused ${answers.reused}, and its counters say` +
        ` ${counters.evaluated} and ${counters.reused}; is it used by others?`,
    );
  }
  return trial;
}

function isApart({ cold, other }: Trial): boolean {
  return cold.reused === 0 && other.reused === 0;
}

function describeReuse(names: CacheNames, { again, kept }: Trial): ProvenReuse {
  if (again.reused === 0)
    return { names, prefixCache: null, missing: { prefixCache: NO_CACHE, promptCache: NO_CACHE } };
  // All but the last token and those behind the last whole block were found.
  const blockTokens = again.evaluated;
  if (names.kind === 'switch') {
    return { names, prefixCache: { span: 'session', blockTokens }, missing: { promptCache: NO_NAMES } };
  }
  return kept.reused >= again.reused
    ? { names, prefixCache: { span: 'engine', blockTokens }, missing: {} }
    : { names, prefixCache: { span: 'session', blockTokens }, missing: { promptCache: DRIVEN_OUT } };
}
