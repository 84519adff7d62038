import { BenchError } from '../../base/bench-error.ts';
import type { EngineAudit } from '../../store/records/engine-audit.ts';
import type { CallOptions, EngineSession } from '../engine-session.ts';
import { type EngineCapabilities, unsupported } from '../engine-capabilities.ts';
import type { EngineInfo } from '../engine-info.ts';
import type { EngineRequest } from '../engine-request.ts';
import { type Engine, type FirstLayersOptions, neededFor, type TokenizeRequest } from '../engine.ts';
import type { PromptLedger } from '../http/prompt-ledger.ts';
import type { TokenId } from '../token-id.ts';
import { meterSum, type TokenMeter, zeroMeter } from '../token-meter.ts';
import { OpenAiSession } from './openai-session.ts';
import { bookedSender, type ProbedV1 } from './probed-v1.ts';
import type { PromptSender } from './prompt-sender.ts';
import { requireSameModel } from './v1-server.ts';

/** Of a window that nobody asked for. */
const LONGEST_DEFAULT_CONTEXT_TOKENS = 4096;

/** A model that an OpenAI-compatible server serves. Its sessions are names in the server's prefix cache. */
export class OpenAiEngine implements Engine {
  readonly info: EngineInfo;
  readonly capabilities: EngineCapabilities;
  readonly #probed: ProbedV1;
  readonly #sender: PromptSender;
  readonly #ledger: PromptLedger;
  readonly #sessions = new Map<number, OpenAiSession>();
  /** Of sessions that are closed, and time that belongs to none. */
  #otherMeter: TokenMeter = zeroMeter;
  #isClosed = false;

  private constructor(probed: ProbedV1, info: EngineInfo, sessions: number, books: [PromptSender, PromptLedger]) {
    this.#probed = probed;
    this.info = info;
    this.capabilities = { ...probed.capabilities, sessions };
    [this.#sender, this.#ledger] = books;
  }

  /** @throws BenchError `bad-option` where the server takes shorter sequences than are asked for, or another K/V type */
  static async open(probed: ProbedV1, request: EngineRequest, options: CallOptions = {}): Promise<OpenAiEngine> {
    const info = infoOf(probed, request);
    return new OpenAiEngine(probed, info, request.sessions ?? 1, await bookedSender(probed, options));
  }

  async tokenize(
    texts: readonly TokenizeRequest[],
    options: CallOptions = {},
  ): Promise<readonly (readonly TokenId[])[]> {
    this.#requireOpen(options);
    const start = performance.now();
    try {
      return await this.#probed.server.tokenizer.tokenize(texts, options);
    } finally {
      this.#otherMeter = meterSum(this.#otherMeter, { ...zeroMeter, busyMs: performance.now() - start });
    }
  }

  async detokenize(ids: readonly (readonly TokenId[])[], options: CallOptions = {}): Promise<readonly string[]> {
    this.#requireOpen(options);
    return this.#probed.server.tokenizer.detokenize(ids, options);
  }

  async openSession(_scope: string, options: CallOptions = {}): Promise<EngineSession> {
    this.#requireOpen(options);
    const { capabilities, info } = this;
    const places = Array.from({ length: capabilities.sessions }, (_, place) => place);
    const free = places.find((place) => !this.#sessions.has(place));
    if (free === undefined) {
      const message = `all ${capabilities.sessions} sessions of the engine are open`;
      throw new BenchError('no-session', message, 'close one, or open the engine with more');
    }
    const { names, telling, scoring, prefixCache, server } = this.#probed;
    const session = new OpenAiSession({
      ...{ sender: this.#sender, names, telling, scoring, prefixCache, place: free, info, capabilities },
      onClose: (last) => {
        this.#sessions.delete(free);
        this.#otherMeter = meterSum(this.#otherMeter, last);
      },
    });
    // At once: another call must not open one too many.
    this.#sessions.set(free, session);
    try {
      await requireSameModel(server, options);
    } catch (error) {
      this.#sessions.delete(free);
      throw error;
    }
    return session;
  }

  /** @throws BenchError `unsupported`: the server gives no layer out */
  async firstLayers(_layers: number, options: FirstLayersOptions = {}): Promise<Engine> {
    this.#requireOpen({});
    throw unsupported(this.capabilities, neededFor(options));
  }

  async meter(options: CallOptions = {}): Promise<TokenMeter> {
    this.#requireOpen(options);
    return [...this.#sessions.values()].reduce((sum, session) => meterSum(sum, session.reading()), this.#otherMeter);
  }

  async audit(options: CallOptions = {}): Promise<EngineAudit | null> {
    this.#requireOpen(options);
    return this.#ledger.audit(options);
  }

  /** There are none. */
  async deleteCheckpoint(_: unknown, { signal }: CallOptions = {}): Promise<void> {
    signal?.throwIfAborted();
  }

  /** Closes all sessions, after the calls that they were given before. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const session of this.#sessions.values()) await session[Symbol.asyncDispose]();
  }

  #requireOpen({ signal }: CallOptions): void {
    if (this.#isClosed) throw new BenchError('no-session', 'the engine is closed', 'open it again');
    signal?.throwIfAborted();
  }
}

function infoOf({ server, names }: ProbedV1, request: EngineRequest): EngineInfo {
  const { url } = server.connection;
  const { cellsPerPosition = 1, sessions = 1, kvType } = request;
  // The line of a cache's name stands in the window too, and the last token of a text that is scored.
  const longest = server.windowTokens - names.lineTokens - 1;
  const contextTokens = request.contextTokens ?? Math.min(longest, LONGEST_DEFAULT_CONTEXT_TOKENS);
  if (contextTokens > longest) {
    throw new BenchError(
      'bad-option',
      `${url}: the server takes ${longest} tokens, and ${contextTokens} are needed`,
      `start it with a longer window (vLLM: --max-model-len ${contextTokens + names.lineTokens + 1}), or give --context-tokens ${longest}`,
    );
  }
  if (names.kind === 'switch' && server.slots !== null && sessions > server.slots) {
    throw new BenchError(
      'bad-option',
      `${url}: the server has ${server.slots} slots, and ${sessions} are needed`,
      `start it with --parallel ${sessions} --ctx-size ${sessions * (contextTokens + 1)}`,
    );
  }
  if (kvType !== undefined) {
    throw new BenchError('bad-option', `${url}: the server does not say how it keeps K/V`, `do not ask for ${kvType}`);
  }
  return {
    engine: 'openai',
    build: server.build,
    model: server.description,
    modelSha256: null,
    contextTokens,
    cellTokens: contextTokens * cellsPerPosition,
    threads: null,
    compute: null,
    ...server.tokenizer.special,
    stateIdentity: null,
  };
}
