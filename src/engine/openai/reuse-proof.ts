import { booksAgree } from '../../store/records/engine-audit.ts';
import type { CallOptions } from '../engine-session.ts';
import type { EngineCapabilities } from '../engine-capabilities.ts';
import { PromptLedger } from '../http/prompt-ledger.ts';
import type { TokenId } from '../token-id.ts';
import { type CacheName, CacheNames } from './cache-names.ts';
import { optional } from './optional.ts';
import { type Counted, PromptSender } from './prompt-sender.ts';
import type { V1Server } from './v1-server.ts';

/** A power of two, so that what is found of a prompt tells the size of blocks; larger blocks are taken for no cache. */
const PROOF_TOKENS = 256;
const TEXT = ' The river runs past the old mill and the stone bridge, where we met a painter that winter.';

const NO_CACHE =
  'of a prompt that was sent twice the server reused nothing: start it with a prefix cache (vLLM: --enable-prefix-caching)';
const NO_NAMES =
  'the server keeps a prompt a slot and tells no users apart: --engine llama-server keeps prompts of users in files';
const DRIVEN_OUT =
  "another prompt drove a prompt of before out of the server's cache: start it with more slots, or a larger cache";

/** The server's use of earlier prompts, as it was seen. */
export interface ProvenReuse {
  readonly names: CacheNames;
  readonly prefixCache: EngineCapabilities['prefixCache'];
  /** The reason for each of the two that is missing. */
  readonly missing: { readonly prefixCache?: string; readonly promptCache?: string };
}

/**
 * Proves that a server finds prompts of the same name in its prefix cache, and of no other, by a salt, a switch or a line: a prompt under a new name must
 * find nothing, once more under the same name it shows the cache and its blocks, under another name it must find nothing
 * again, though it was evaluated before, and under the first name it must still be there. What the answers say must be what
 * the server's counters say.
 * @throws BenchError `protocol` where prompts cannot be kept apart, where reuse is not told, and where its books differ
 */
export async function proveReuse(server: V1Server, asIds: boolean, options: CallOptions): Promise<ProvenReuse> {
  const { errors } = server.connection;
  const bySalt = CacheNames.bySalt();
  // A server that knows no salt may refuse it, or pay it no heed.
  const salted = await optional(tryNames(server, asIds, bySalt, options));
  if (salted !== undefined && isApart(salted)) return provenBy(bySalt, salted);
  const bySwitch = CacheNames.bySwitch();
  const switched = await optional(tryNames(server, asIds, bySwitch, options));
  if (switched !== undefined && isApart(switched)) return provenBy(bySwitch, switched);
  const tokenize = async (text: string): Promise<readonly TokenId[]> =>
    (await server.tokenizer.tokenize([{ text, as: 'text' }], options))[0]!;
  const byLine = await CacheNames.byLine(tokenize);
  const lined = await tryNames(server, asIds, byLine, options);
  if (!isApart(lined)) {
    const { reused } = lined.cold.reused > 0 ? lined.cold : lined.other;
    throw errors.protocol(`reused ${reused} tokens of a prompt under a name that nobody used before`);
  }
  return provenBy(byLine, lined);
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
  const ask = async (name: CacheName, isFirst: boolean): Promise<Counted> =>
    (await sender.complete({ ids, name, isFirst }, { max_tokens: 1 }, options)).counted;
  const [one, two] = [names.of(undefined, 0), names.of(undefined, 0)];
  const [cold, again] = [await ask(one, true), await ask(one, false)];
  const trial = { cold, again, other: await ask(two, true), kept: await ask(one, false) };
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

function provenBy(names: CacheNames, { again, kept }: Trial): ProvenReuse {
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
