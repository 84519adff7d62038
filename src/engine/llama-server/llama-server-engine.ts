import { BenchError } from '../../base/bench-error.ts';
import { BaseEngine, type EngineParts } from '../base-engine.ts';
import type { SessionParts } from '../base-session.ts';
import type { SessionCells } from '../sequence-state.ts';
import type { EngineInfo } from '../engine-info.ts';
import { type EngineRequest, sessionWindow } from '../engine-adapter.ts';
import type { CallOptions } from '../engine-session.ts';
import { hashModelFile } from '../gguf/model-file.ts';
import { openPromptTokenLedger, type PromptTokenLedger } from '../http/prompt-token-ledger.ts';
import { propsShape, type ServerProps } from '../http/model-response-schemas.ts';
import { type EngineKvStorage, engineKvStorage } from '../llama-state/engine-kv-storage.ts';
import type { KvTransfer } from '../llama-state/kv-transfer.ts';
import { LlamaServerSession } from './llama-server-session.ts';
import { type ProbedServer, probeServer, type Endpoint } from './probe-server.ts';
import { SlotKvFiles } from './slot-kv-files.ts';
import { Slot } from './slot.ts';

interface LlamaServerParts extends EngineParts {
  readonly endpoint: Endpoint;
  readonly probed: ProbedServer;
  readonly states: EngineKvStorage;
  readonly ledger: PromptTokenLedger;
}

/** A model loaded by a llama-server; each session has a slot. */
export class LlamaServerEngine extends BaseEngine<LlamaServerParts> {
  /** @throws BenchError `bad-option` for a server that lacks flags, slots or space; `disk`; those of `probeServer` */
  static async open(endpoint: Endpoint, request: EngineRequest, options: CallOptions = {}): Promise<LlamaServerEngine> {
    const states = engineKvStorage(request, null);
    try {
      const probed = await probeServer(endpoint, options);
      const modelSha256 = endpoint.file === undefined ? null : await hashModelFile(endpoint.file, options.signal);
      const info = describe(endpoint.connection.url, probed, request, modelSha256);
      const capabilities = { ...probed.capabilities, sessions: request.sessions ?? 1 };
      const ledger = await openPromptTokenLedger(endpoint.connection, options);
      const { tokenizer } = probed.served;
      return new LlamaServerEngine({ info, capabilities, tokenizer, states, ledger, endpoint, probed });
    } catch (error) {
      states[Symbol.dispose]();
      throw error;
    }
  }

  protected newSession(id: number, parts: Omit<SessionParts, 'exchange'>): LlamaServerSession {
    const { endpoint, probed } = this.parts;
    const slot = this.#slot(id);
    return new LlamaServerSession({
      ...parts,
      slot,
      exchange: this.#exchange(slot, parts.cells),
      scored: probed.scored,
      canErase: endpoint.slotsFolder !== undefined,
    });
  }

  /** @throws BenchError `changed` if model, build or slots differ from those at opening */
  protected override async prepare(id: number, options: CallOptions): Promise<void> {
    const { connection, slotsFolder } = this.parts.endpoint;
    const before = serverFacts(this.parts.probed.served.props);
    const now = serverFacts(await connection.get('/props', propsShape, options));
    if (now !== before) throw connection.errors.changed(`it has ${now} now, but had ${before}`);
    if (slotsFolder !== undefined) await this.#slot(id).erase(options);
  }

  protected override async release(): Promise<void> {
    await this.parts.endpoint.close();
  }

  #slot(id: number): Slot {
    const { endpoint, probed, ledger } = this.parts;
    return new Slot(endpoint.connection, id, probed.served.alias, ledger);
  }

  #exchange(slot: Slot, cells: SessionCells): KvTransfer | null {
    const { endpoint, probed, states, info } = this.parts;
    if (probed.states === null) return null;
    const { layout, form, streams } = probed.states;
    const sequence = new SlotKvFiles({ connection: endpoint.connection, slot, cells, folder: endpoint.slotsFolder! });
    const facts = { layout, form, windowed: [], sequences: streams, window: info, stateIdentity: info.stateIdentity! };
    return states.exchange({ sequence, cells, ...facts });
  }
}

function serverFacts({ model_path: path, build_info: build, total_slots: slots, ...props }: ServerProps): string {
  return `${path}, build ${build}, ${slots} slots of ${props.default_generation_settings.n_ctx} tokens`;
}

/** @throws BenchError `bad-option` if the server has fewer or shorter slots than needed, or another KV type */
function describe(
  url: string,
  { served, slotTokens, slots, states }: ProbedServer,
  request: EngineRequest,
  modelSha256: string | null,
): EngineInfo {
  const { sessions = 1, cellsPerPosition = 1, kvType } = request;
  const { name, parameters, sizeBytes, trainContextTokens } = served.description;
  const window = sessionWindow(request, Math.min(trainContextTokens, Math.floor(slotTokens / cellsPerPosition)));
  const { cellTokens } = window;
  if (sessions > slots || cellTokens > slotTokens) {
    throw new BenchError(
      'bad-option',
      `${url}: llama-server has ${slots} slots of ${slotTokens} tokens, but the run needs ${sessions} of ${cellTokens}`,
      `start it with --parallel ${sessions} --ctx-size ${sessions * cellTokens}`,
    );
  }
  if (kvType !== undefined && states !== null && states.layout.keyType !== kvType) {
    const message = `${url}: llama-server stores KV in ${states.layout.keyType}, not ${kvType}`;
    const type = kvType.toLowerCase();
    throw new BenchError('bad-option', message, `start it with --cache-type-k ${type} --cache-type-v ${type}`);
  }
  const build = served.props.build_info;
  const model = modelSha256 ?? `${name} of ${parameters} parameters in ${sizeBytes} bytes`;
  const order = states?.layout.valuesTransposed === true ? 'transposed' : 'by cell';
  return {
    engine: 'llama-server',
    build: { 'llama-server': build },
    model: served.description,
    modelSha256,
    ...window,
    threads: null,
    compute: null,
    ...served.tokenizer.special,
    stateIdentity: states && `llama-server ${build} model ${model}, ${states.layout.keyType}, values ${order}`,
  };
}
