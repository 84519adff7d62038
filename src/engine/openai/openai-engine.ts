import { BenchError } from '../../base/bench-error.ts';
import type { EngineAudit } from '../../store/records/run-probes.ts';
import { BaseEngine } from '../base-engine.ts';
import { type EngineInfo, LONGEST_DEFAULT_CONTEXT_TOKENS } from '../engine-info.ts';
import type { EngineRequest } from '../engine-request.ts';
import type { CallOptions } from '../engine-session.ts';
import type { TokenizeRequest } from '../engine.ts';
import { PromptLedger } from '../http/prompt-ledger.ts';
import { SessionCells } from '../session-cells.ts';
import type { TokenIds } from '../token-id.ts';
import type { TokenMeter } from '../token-meter.ts';
import { OpenAiSession } from './openai-session.ts';
import type { ProbedServer } from './probe-server.ts';
import { PromptSender } from './prompt-sender.ts';
import { requireSameModel } from './v1-server.ts';

/** A model of an OpenAI-compatible server. Each session has a name in the server's prefix cache. */
export class OpenAiEngine extends BaseEngine {
  readonly #probed: ProbedServer;
  readonly #ledger: PromptLedger;

  private constructor(probed: ProbedServer, info: EngineInfo, sessions: number, ledger: PromptLedger) {
    super(info, { ...probed.capabilities, sessions });
    this.#probed = probed;
    this.#ledger = ledger;
  }

  /** @throws BenchError `bad-option` where the server takes shorter sequences than needed, or for a KV type */
  static async open(probed: ProbedServer, request: EngineRequest, options: CallOptions): Promise<OpenAiEngine> {
    const info = describe(probed, request);
    const ledger = await PromptLedger.open(probed.server.connection, options);
    return new OpenAiEngine(probed, info, request.sessions ?? 1, ledger);
  }

  override async audit(options: CallOptions = {}): Promise<EngineAudit | null> {
    this.requireOpen(options);
    return this.#ledger.audit(options);
  }

  protected tokenizeNow(texts: readonly TokenizeRequest[], options: CallOptions): Promise<readonly TokenIds[]> {
    return this.#probed.server.tokenizer.tokenize(texts, options);
  }

  protected detokenizeNow(ids: readonly TokenIds[], options: CallOptions): Promise<readonly string[]> {
    return this.#probed.server.tokenizer.detokenize(ids, options);
  }

  protected newSession(place: number, onClose: (last: TokenMeter) => void): OpenAiSession {
    const { server, asIds, names, telling, scoring } = this.#probed;
    const { info, capabilities } = this;
    const sender = new PromptSender(server, asIds, this.#ledger);
    const cells = new SessionCells();
    return new OpenAiSession({
      cells,
      exchange: null,
      info,
      capabilities,
      onClose,
      sender,
      names,
      telling,
      scoring,
      place,
    });
  }

  protected prepare(_place: number, options: CallOptions): Promise<void> {
    return requireSameModel(this.#probed.server, options);
  }

  protected release(): Promise<void> {
    return Promise.resolve();
  }
}

function describe({ server, names }: ProbedServer, request: EngineRequest): EngineInfo {
  const { url } = server.connection;
  const { cellsPerPosition = 1, sessions = 1, kvType } = request;
  // The line of a cache's name takes space in the window too, and so does the last token of a scored text.
  const longest = server.windowTokens - names.lineTokens - 1;
  const contextTokens = request.contextTokens ?? Math.min(longest, LONGEST_DEFAULT_CONTEXT_TOKENS);
  const refusal = (why: string, hint: string): BenchError => new BenchError('bad-option', `${url}: ${why}`, hint);
  if (contextTokens > longest) {
    throw refusal(
      `the server takes ${longest} tokens, and ${contextTokens} are needed`,
      `start it with a longer window (vLLM: --max-model-len ${contextTokens + names.lineTokens + 1}), or give --context-tokens ${longest}`,
    );
  }
  if (names.kind === 'switch' && server.slots !== null && sessions > server.slots) {
    const hint = `start it with --parallel ${sessions} --ctx-size ${sessions * (contextTokens + 1)}`;
    throw refusal(`the server has ${server.slots} slots, and ${sessions} are needed`, hint);
  }
  if (kvType !== undefined) throw refusal('the server does not say how it stores KV', `do not ask for ${kvType}`);
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
