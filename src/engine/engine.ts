/**
 * The port to language models: `Engine` and `EngineSession` here, their descriptions in `engine-info`,
 * `engine-capabilities` and `engine-adapter`, their values in `sequence-state` (KV), `sequence-score`, `checkpoint` and
 * `token-meter`. Three adapters implement it, listed in `adapters`: `llama-cpp/` in this process, `llama-server/` and
 * `openai/` over HTTP. They share `base-engine`, `base-session`, `http/`, `llama-state/` (files of KV) and `gguf/` (model
 * files). The contract test runs the same promises against all of them.
 */
import type { EngineAudit } from '../store/records/engine-audit.ts';
import type { Checkpoint } from './session-checkpoint.ts';
import type { CapabilityName, EngineCapabilities } from './engine-capabilities.ts';
import type { EngineInfo } from './engine-info.ts';
import type { CallOptions, EngineSession } from './engine-session.ts';
import type { TokenIds } from './token-id.ts';
import type { TokenMeter } from './token-meter.ts';

/** A text to tokenise alone, without BOS. */
export interface TokenizeRequest {
  readonly text: string;
  /** `text`, for users and memories, never yields control tokens; `template`, for a chat template's markers, may. */
  readonly as: 'text' | 'template';
  /** The text opens the sequence: some tokenisers add a leading space there alone. Default false. */
  readonly first?: boolean;
}

export interface FirstLayersOptions extends CallOptions {
  /**
   * The keys of the last layer are its queries, rotated like its keys, one head for each query head; in the layers below, the
   * KV of each KV head is repeated for each query head that shares it. Default false.
   */
  readonly queries?: boolean | undefined;
}

/** The capability that first layers need. */
export function neededFor({ queries = false }: FirstLayersOptions): CapabilityName {
  return queries ? 'queries' : 'firstLayers';
}

/**
 * One loaded model, in this process or behind HTTP. Several may be open at once. Closing it closes its sessions; every later
 * call rejects with BenchError `no-session`.
 *
 * @example
 * import { adapterNamed } from './adapters.ts';
 *
 * await using engine: Engine = await adapterNamed('llama-cpp').opener({}).open({ model: 'random:tiny-llama' });
 * const [prompt = []] = await engine.tokenize([{ text: 'User: hello\n\nAI:', as: 'text', first: true }]);
 * await using session = await engine.openSession('example');
 * const { text } = await session.generate(prompt, { maxTokens: 16 });
 */
export interface Engine extends AsyncDisposable {
  readonly info: EngineInfo;
  readonly capabilities: EngineCapabilities;
  /**
   * The ids of each text alone, without BOS, in order.
   * @throws BenchError `special-token` where `as: 'text'` would yield a control token
   */
  tokenize(texts: readonly TokenizeRequest[], options?: CallOptions): Promise<readonly TokenIds[]>;
  /** The text of each list of ids, in order; control tokens have none. */
  detokenize(ids: readonly TokenIds[], options?: CallOptions): Promise<readonly string[]>;
  /**
   * Opens an empty session.
   * @param scope names the owner of its KV: no other scope finds it in a cache of the engine
   * @throws BenchError `no-session` beyond `capabilities.sessions`
   */
  openSession(scope: string, options?: CallOptions): Promise<EngineSession>;
  /**
   * The model's first layers as an engine beside this one: the same tokens, the same keys and values in those layers, bit by
   * bit, and meaningless distributions. It has as many sessions and as long a window, is shared by all calls for that number,
   * and closes with this engine. Needs capability `firstLayers`, with queries `queries`.
   * @throws RangeError for fewer than one layer, or more than the model has @throws BenchError `disk`
   */
  firstLayers(layers: number, options?: FirstLayersOptions): Promise<Engine>;
  /** The sum over all sessions ever opened, and the time of tokenising. Does not wait for running calls. */
  meter(options?: CallOptions): Promise<TokenMeter>;
  /**
   * Prompt tokens since opening: as the answers report them, and as the engine's own counters do, which include other users.
   * Null for an engine without such counters, and once an answer was lost.
   */
  audit(options?: CallOptions): Promise<EngineAudit | null>;
  /** Deletes what `checkpoint` of a session stored; nothing happens if it is gone. */
  deleteCheckpoint(checkpoint: Pick<Checkpoint, 'id'>, options?: CallOptions): Promise<void>;
}
