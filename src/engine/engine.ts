/**
 * The port to language models. Interfaces: `engine`, `engine-session`, `engine-adapter`. Data: `engine-info`,
 * `engine-capabilities`, `sequence-state` (KV), `sequence-score`, `token-meter`. Adapters, listed in
 * `adapters`: `llama-cpp/` in this process, `llama-server/` and `openai/` over HTTP. They share `base-engine`, `base-session`,
 * `http/`, `llama-state/` (llama.cpp's KV files) and `gguf/` (model files). One contract test runs against all of them.
 */
import type { PromptTokenAudit } from '../store/records/prompt-token-audit.ts';
import type { CallOptions, Checkpoint, EngineSession } from './engine-session.ts';
import type { CapabilityName, EngineCapabilities } from './engine-capabilities.ts';
import type { EngineInfo } from './engine-info.ts';
import type { TokenIds } from './token-id.ts';
import type { TokenMeter } from './token-meter.ts';

/** A text to tokenise on its own, without BOS. */
export interface TokenizeRequest {
  readonly text: string;
  /** `text` (users, memories) must not contain control tokens; `template` (chat-template markers) may. */
  readonly as: 'text' | 'template';
  /** The text starts the sequence; only there do some tokenisers add a leading space. Default false. */
  readonly first?: boolean;
}

export interface FirstLayersOptions extends CallOptions {
  /**
   * The last layer returns its queries in place of its keys, rotated in the same way, one head per query head. In the layers
   * below, the KV of each KV head is repeated for each query head that shares it. Default false.
   */
  readonly queries?: boolean | undefined;
}

/** Number of tokens of each text of users or memories. */
export async function countTokens(engine: Pick<Engine, 'tokenize'>, texts: readonly string[]): Promise<number[]> {
  return (await engine.tokenize(texts.map((text) => ({ text, as: 'text' })))).map((ids) => ids.length);
}

/** The capability that a call of `firstLayers` needs. */
export function firstLayersCapability({ queries = false }: FirstLayersOptions): CapabilityName {
  return queries ? 'queries' : 'firstLayers';
}

/**
 * One loaded model, in this process or on a server. Several may be open at once. Closing the engine closes its sessions; later
 * calls reject with BenchError `no-session`.
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
   * Tokenises each text on its own, without BOS.
   * @throws BenchError `special-token` if a text with `as: 'text'` contains a control token
   */
  tokenize(texts: readonly TokenizeRequest[], options?: CallOptions): Promise<readonly TokenIds[]>;
  /** Text of each list of ids; control tokens become empty. */
  detokenize(ids: readonly TokenIds[], options?: CallOptions): Promise<readonly string[]>;
  /**
   * Opens an empty session.
   * @param scope owner of the session's KV; the engine's caches share nothing between scopes
   * @throws BenchError `no-session` beyond `capabilities.sessions`
   */
  openSession(scope: string, options?: CallOptions): Promise<EngineSession>;
  /**
   * Opens the model's first layers as another engine, with the same tokenizer and, in these layers, the same KV bit by bit; its
   * distributions mean nothing. It has as many sessions and the same window. Calls with the same arguments share one engine,
   * which closes with this one. Needs capability `firstLayers`, or `queries` for queries.
   * @throws RangeError for fewer than one layer, or more than the model has @throws BenchError `disk`
   */
  firstLayers(layers: number, options?: FirstLayersOptions): Promise<Engine>;
  /** Counts summed over all sessions ever opened, plus time spent tokenising. Does not wait for running calls. */
  meter(options?: CallOptions): Promise<TokenMeter>;
  /**
   * Prompt tokens since opening, as summed from the server's answers and as read from its own counters, which include other
   * clients. Null if the engine has no such counters, or if an answer was lost.
   */
  audit(options?: CallOptions): Promise<PromptTokenAudit | null>;
  /** Deletes a stored checkpoint; does nothing if it is already gone. */
  deleteCheckpoint(checkpoint: Pick<Checkpoint, 'id'>, options?: CallOptions): Promise<void>;
}
