import { BenchError } from '../../base/bench-error.ts';
import { BaseEngine, type EngineParts } from '../base-engine.ts';
import type { SessionParts } from '../base-session.ts';
import type { EngineInfo } from '../engine-info.ts';
import { type EngineRequest, sessionWindow } from '../engine-adapter.ts';
import type { CallOptions } from '../engine-session.ts';
import { openPromptTokenLedger, type PromptTokenLedger } from '../http/prompt-token-ledger.ts';
import { OpenAiSession } from './openai-session.ts';
import type { ProbedServer } from './probe-server.ts';
import { PromptSender } from './prompt-sender.ts';
import { requireSameModel } from './describe-v1-server.ts';

interface OpenAiParts extends EngineParts {
  readonly probed: ProbedServer;
  readonly ledger: PromptTokenLedger;
}

/** A model on an OpenAI-compatible server. Each session has its own name in the server's prefix cache. */
export class OpenAiEngine extends BaseEngine<OpenAiParts> {
  /** @throws BenchError `bad-option` if the server's window is too short or its slots too few, or if a KV type is requested */
  static async open(probed: ProbedServer, request: EngineRequest, options: CallOptions): Promise<OpenAiEngine> {
    const info = describe(probed, request);
    const capabilities = { ...probed.capabilities, sessions: request.sessions ?? 1 };
    const { connection, tokenizer } = probed.server;
    const ledger = await openPromptTokenLedger(connection, options);
    return new OpenAiEngine({ info, capabilities, tokenizer, ledger, probed });
  }

  protected newSession(sessionIndex: number, parts: Omit<SessionParts, 'exchange'>): OpenAiSession {
    const { probed, ledger } = this.parts;
    const sender = new PromptSender(probed.server, probed.asIds, ledger);
    return new OpenAiSession({ ...parts, exchange: null, sender, sessionIndex, probed });
  }

  protected override prepare(_sessionIndex: number, options: CallOptions): Promise<void> {
    return requireSameModel(this.parts.probed.server, options);
  }
}

function describe({ server, names }: ProbedServer, request: EngineRequest): EngineInfo {
  const { url } = server.connection;
  const { sessions = 1, kvType } = request;
  // Leaves space for the line of the cache name, and for the last token of a scored text.
  const longest = server.windowTokens - names.lineTokens - 1;
  const window = sessionWindow(request, longest);
  const { contextTokens } = window;
  const refusal = (why: string, hint: string): BenchError => new BenchError('bad-option', `${url}: ${why}`, hint);
  if (contextTokens > longest) {
    throw refusal(
      `the server takes ${longest} tokens, but the run needs ${contextTokens}`,
      `start it with a longer window (vLLM: --max-model-len ${contextTokens + names.lineTokens + 1}), or use --context-tokens ${longest}`,
    );
  }
  if (names.kind === 'switch' && server.slots !== null && sessions > server.slots) {
    const hint = `start it with --parallel ${sessions} --ctx-size ${sessions * (contextTokens + 1)}`;
    throw refusal(`the server has ${server.slots} slots, but the run needs ${sessions}`, hint);
  }
  if (kvType !== undefined) throw refusal('the server does not tell how it stores KV', `drop the KV type ${kvType}`);
  return {
    engine: 'openai',
    build: server.build,
    model: server.description,
    modelSha256: null,
    ...window,
    threads: null,
    compute: null,
    ...server.tokenizer.special,
    stateIdentity: null,
  };
}
