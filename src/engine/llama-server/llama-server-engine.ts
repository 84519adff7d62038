import { join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import type { EngineAudit } from '../../store/records/run-probes.ts';
import { BaseEngine } from '../base-engine.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { type EngineInfo, LONGEST_DEFAULT_CONTEXT_TOKENS } from '../engine-info.ts';
import type { EngineRequest } from '../engine-request.ts';
import type { CallOptions } from '../engine-session.ts';
import type { TokenizeRequest } from '../engine.ts';
import { sha256OfModel } from '../gguf/model-file.ts';
import { PromptLedger } from '../http/prompt-ledger.ts';
import { propsShape, type ServerProps } from '../http/served-model.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import { CheckpointFolder } from '../llama-state/checkpoint-folder.ts';
import { PrivateFolder } from '../llama-state/private-folder.ts';
import { StateExchange } from '../llama-state/state-exchange.ts';
import { SessionCells } from '../session-cells.ts';
import type { TokenIds } from '../token-id.ts';
import type { TokenMeter } from '../token-meter.ts';
import { LlamaServerSession } from './llama-server-session.ts';
import { type ProbedServer, probeServer } from './probe-server.ts';
import { SlotCarrier } from './slot-carrier.ts';
import { Slot } from './slot.ts';

/** The address of a server, and its files on this machine. */
export interface ServerPlace {
  readonly connection: ServerConnection;
  /** The model's name in the request: a file, the server's name for it, or `served`. */
  readonly name: string;
  /** The model's GGUF file, where it is named. */
  readonly file: string | undefined;
  /** The folder that the server saves slots to, where it is named. */
  readonly slotsFolder: string | undefined;
  /** Called when the engine is closed. */
  readonly close: () => Promise<void>;
}

/** What a server engine owns. */
interface EngineParts {
  readonly place: ServerPlace;
  readonly probed: ProbedServer;
  readonly ledger: PromptLedger;
  readonly folder: PrivateFolder;
  readonly checkpoints: CheckpointFolder;
}

/** A model that a llama-server has loaded: a slot for each session. */
export class LlamaServerEngine extends BaseEngine {
  readonly #parts: EngineParts;
  #opened = 0;

  private constructor(info: EngineInfo, sessions: number, parts: EngineParts) {
    super(info, { ...parts.probed.capabilities, sessions });
    this.#parts = parts;
  }

  /** @throws BenchError as `probeServer`; `bad-option` where the server has fewer or shorter slots than needed; `disk` */
  static async open(place: ServerPlace, request: EngineRequest, options: CallOptions = {}): Promise<LlamaServerEngine> {
    const folder = new PrivateFolder();
    try {
      const checkpoints = new CheckpointFolder(request.checkpointFolder ?? join(folder.path, 'checkpoints'));
      const probed = await probeServer(place.connection, place, options);
      const modelSha256 = place.file === undefined ? null : await sha256OfModel(place.file, options.signal);
      const info = describe(place.connection.url, probed, request, modelSha256);
      const ledger = await PromptLedger.open(place.connection, options);
      return new LlamaServerEngine(info, request.sessions ?? 1, { place, probed, ledger, folder, checkpoints });
    } catch (error) {
      folder[Symbol.dispose]();
      throw error;
    }
  }

  override async audit(options: CallOptions = {}): Promise<EngineAudit | null> {
    this.requireOpen(options);
    return this.#parts.ledger.audit(options);
  }

  override async deleteCheckpoint({ id }: Pick<Checkpoint, 'id'>, { signal }: CallOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    this.#parts.checkpoints.remove(id);
  }

  protected tokenizeNow(texts: readonly TokenizeRequest[], options: CallOptions): Promise<readonly TokenIds[]> {
    return this.#parts.probed.served.tokenizer.tokenize(texts, options);
  }

  protected detokenizeNow(ids: readonly TokenIds[], options: CallOptions): Promise<readonly string[]> {
    return this.#parts.probed.served.tokenizer.detokenize(ids, options);
  }

  protected newSession(id: number, onClose: (last: TokenMeter) => void): LlamaServerSession {
    const { place, probed } = this.#parts;
    const { info, capabilities } = this;
    const slot = this.#slot(id);
    const cells = new SessionCells();
    const exchange = this.#exchange(slot, cells);
    const canErase = place.slotsFolder !== undefined;
    const { scored } = probed;
    return new LlamaServerSession({ slot, cells, exchange, info, capabilities, scored, canErase, onClose });
  }

  /** @throws BenchError `changed` where another server answers now */
  protected async prepare(id: number, options: CallOptions): Promise<void> {
    const { place, probed } = this.#parts;
    const { connection, slotsFolder } = place;
    const before = serverFacts(probed.served.props);
    const now = serverFacts(await connection.get('/props', propsShape, options));
    if (now !== before) throw connection.errors.changed(`it has ${now} now, and ${before} before`);
    if (slotsFolder !== undefined) await this.#slot(id).erase(options);
  }

  protected async release(): Promise<void> {
    this.#parts.folder[Symbol.dispose]();
    await this.#parts.place.close();
  }

  #slot(id: number): Slot {
    const { place, probed, ledger } = this.#parts;
    return new Slot(place.connection, id, probed.served.alias, ledger);
  }

  #exchange(slot: Slot, cells: SessionCells): StateExchange | null {
    const { place, probed, folder, checkpoints } = this.#parts;
    if (probed.states === null) return null;
    const { layout, form, streams } = probed.states;
    const sequence = new SlotCarrier(place.connection, slot, cells, place.slotsFolder!);
    return new StateExchange(
      { sequence, cells },
      {
        layout,
        form,
        sequences: streams,
        window: this.info,
        stateIdentity: this.info.stateIdentity!,
        checkpoints,
        verified: null,
        scratchPath: join(folder.path, `session-${this.#opened++}.state`),
      },
    );
  }
}

function serverFacts({
  model_path: path,
  build_info: build,
  total_slots: slots,
  default_generation_settings: { n_ctx: tokens },
}: ServerProps): string {
  return `${path}, build ${build}, ${slots} slots of ${tokens} tokens`;
}

/** @throws BenchError `bad-option` where the server has fewer or shorter slots than needed, or another KV type */
function describe(
  url: string,
  { served, slotTokens, slots, states }: ProbedServer,
  request: EngineRequest,
  modelSha256: string | null,
): EngineInfo {
  const { sessions = 1, cellsPerPosition = 1, kvType } = request;
  const { description } = served;
  const longest = Math.min(
    description.trainContextTokens,
    LONGEST_DEFAULT_CONTEXT_TOKENS,
    Math.floor(slotTokens / cellsPerPosition),
  );
  const contextTokens = request.contextTokens ?? longest;
  const cellTokens = contextTokens * cellsPerPosition;
  if (sessions > slots || cellTokens > slotTokens) {
    throw new BenchError(
      'bad-option',
      `${url}: llama-server has ${slots} slots of ${slotTokens} tokens, and ${sessions} of ${cellTokens} are needed`,
      `start it with --parallel ${sessions} --ctx-size ${sessions * cellTokens}`,
    );
  }
  if (kvType !== undefined && states !== null && states.layout.keyType !== kvType) {
    const message = `${url}: llama-server stores KV in ${states.layout.keyType}, not ${kvType}`;
    const type = kvType.toLowerCase();
    throw new BenchError('bad-option', message, `start it with --cache-type-k ${type} --cache-type-v ${type}`);
  }
  const build = served.props.build_info;
  const { name, parameters, sizeBytes } = description;
  const model = modelSha256 ?? `${name} of ${parameters} parameters in ${sizeBytes} bytes`;
  return {
    engine: 'llama-server',
    build: { 'llama-server': build },
    model: description,
    modelSha256,
    contextTokens,
    cellTokens,
    threads: null,
    compute: null,
    ...served.tokenizer.special,
    stateIdentity:
      states === null
        ? null
        : `llama-server ${build} model ${model}, ${states.layout.keyType}, values ${states.layout.valuesTransposed ? 'transposed' : 'by cell'}`,
  };
}
