import type { EngineAudit } from '../store/records/engine-audit.ts';
import type { CallOptions, EngineSession } from './engine-session.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { CapabilityName, EngineCapabilities } from './engine-capabilities.ts';
import type { EngineInfo } from './engine-info.ts';
import type { TokenId } from './token-id.ts';
import type { TokenMeter } from './token-meter.ts';

/**
 * One loaded model, in the process or behind HTTP. Several may be open at once. Implementations are adapters, one folder
 * each; nothing above `engine/` names one.
 *
 * Once it is disposed of, which closes its sessions, every call rejects with BenchError `no-session`.
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
   * @see TokenCache which asks once for each text
   */
  tokenize(texts: readonly TokenizeRequest[], options?: CallOptions): Promise<readonly (readonly TokenId[])[]>;
  /** The text of each list of ids, in order; control tokens have none. */
  detokenize(ids: readonly (readonly TokenId[])[], options?: CallOptions): Promise<readonly string[]>;
  /**
   * An empty session.
   * @param scope names whose KV it is: no other scope finds it in a cache of the engine
   * @throws BenchError `no-session` beyond `capabilities.sessions`
   */
  openSession(scope: string, options?: CallOptions): Promise<EngineSession>;
  /**
   * The model's first layers as an engine beside this one: the same tokens, the keys and values that this engine has in those
   * layers, bit by bit, and distributions that mean nothing. It has as many sessions and as long a window, counts for itself,
   * is the same one at each call for that number, and is closed with this engine. Capability `firstLayers`, with queries
   * `queries`.
   * @throws RangeError for fewer than one layer, or more than the model has @throws BenchError `disk`
   */
  firstLayers(layers: number, options?: FirstLayersOptions): Promise<Engine>;
  /**
   * The sum over all sessions that were ever opened, by the engine's own counters, without waiting for calls under way.
   * Its time includes tokenising, which belongs to no session.
   */
  meter(options?: CallOptions): Promise<TokenMeter>;
  /**
   * Prompt tokens since the engine was opened by what its answers said, and by counters of its own, which tell of everybody
   * who uses it; null for an engine without such counters, and once an answer was lost.
   */
  audit(options?: CallOptions): Promise<EngineAudit | null>;
  /** Deletes a checkpoint; one that is gone already is no error. */
  deleteCheckpoint(checkpoint: Pick<Checkpoint, 'id'>, options?: CallOptions): Promise<void>;
}

/** A text to tokenise alone, without BOS. */
export interface TokenizeRequest {
  readonly text: string;
  /** `text` never yields control tokens: for users and memories. `template` may: for a chat template's own markers. */
  readonly as: 'text' | 'template';
  /** Default false. True where the text opens the sequence: tokenisers that add a leading space add it there alone. */
  readonly first?: boolean;
}

/** Options of opening a model's first layers. */
export interface FirstLayersOptions extends CallOptions {
  /**
   * The keys of the last of them are its queries, rotated as its keys are, a head for each query head; in the layers below,
   * the keys and values of each KV head stand once for each query head that shares it, bit by bit. Default false.
   */
  readonly queries?: boolean | undefined;
}

/** The capability without which an engine cannot open them. */
export function neededFor({ queries = false }: FirstLayersOptions): CapabilityName {
  return queries ? 'queries' : 'firstLayers';
}
