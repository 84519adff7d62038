import { join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import type { EngineAudit } from '../../store/records/engine-audit.ts';
import type { CallOptions, EngineSession } from '../engine-session.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { type EngineCapabilities, unsupported } from '../engine-capabilities.ts';
import type { EngineInfo } from '../engine-info.ts';
import type { EngineRequest } from '../engine-request.ts';
import { type Engine, type FirstLayersOptions, neededFor, type TokenizeRequest } from '../engine.ts';
import { sha256OfModel } from '../gguf/model-file.ts';
import { propsShape } from '../http/llama-props.ts';
import { PromptLedger } from '../http/prompt-ledger.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import { CheckpointFolder } from '../llama-state/checkpoint-folder.ts';
import { PrivateFolder } from '../llama-state/private-folder.ts';
import { SessionCells } from '../llama-state/session-cells.ts';
import { StateExchange } from '../llama-state/state-exchange.ts';
import type { TokenId } from '../token-id.ts';
import { meterSum, type TokenMeter, zeroMeter } from '../token-meter.ts';
import { LlamaServerSession } from './llama-server-session.ts';
import { type ProbedServer, probeServer } from './probed-server.ts';
import { infoOf } from './server-info.ts';
import { Slot } from './slot.ts';
import { SlotCarrier } from './slot-carrier.ts';

/** The address of a server, and its files on this machine. */
export interface ServerPlace {
  readonly connection: ServerConnection;
  /** The model as it was asked for: a file, a name of the server's, or whatever it has loaded. */
  readonly name: string;
  /** The model's GGUF file, where it is named. */
  readonly file: string | undefined;
  /** The folder that the server saves slots to, where it is named. */
  readonly slotsFolder: string | undefined;
  /** Called when the engine is closed. */
  readonly close: () => Promise<void>;
}

/** A model that a llama-server has loaded: a slot for each session. */
export class LlamaServerEngine implements Engine {
  readonly info: EngineInfo;
  readonly capabilities: EngineCapabilities;
  readonly #place: ServerPlace;
  readonly #probed: ProbedServer;
  readonly #ledger: PromptLedger;
  readonly #folder: PrivateFolder;
  readonly #checkpoints: CheckpointFolder;
  readonly #sessions = new Map<number, LlamaServerSession>();
  /** Of sessions that are closed, and time that belongs to none. */
  #otherMeter: TokenMeter = zeroMeter;
  #opened = 0;
  #isClosed = false;

  private constructor(
    place: ServerPlace,
    probed: ProbedServer,
    info: EngineInfo,
    sessions: number,
    ledger: PromptLedger,
    folder: PrivateFolder,
    checkpoints: CheckpointFolder,
  ) {
    this.#place = place;
    this.#probed = probed;
    this.#ledger = ledger;
    this.#folder = folder;
    this.#checkpoints = checkpoints;
    this.info = info;
    this.capabilities = { ...probed.capabilities, sessions };
  }

  /** @throws BenchError as `probeServer`; `bad-option` where the server has fewer or shorter slots than are asked for; `disk` */
  static async open(place: ServerPlace, request: EngineRequest, options: CallOptions = {}): Promise<LlamaServerEngine> {
    const folder = new PrivateFolder();
    try {
      const checkpoints = new CheckpointFolder(request.checkpointFolder ?? join(folder.path, 'checkpoints'));
      const probed = await probeServer(place.connection, place, options);
      const modelSha256 = place.file === undefined ? null : await sha256OfModel(place.file, options.signal);
      const info = infoOf(place.connection.url, probed, request, modelSha256);
      const ledger = await PromptLedger.open(place.connection, options);
      return new LlamaServerEngine(place, probed, info, request.sessions ?? 1, ledger, folder, checkpoints);
    } catch (error) {
      folder[Symbol.dispose]();
      throw error;
    }
  }

  async tokenize(
    texts: readonly TokenizeRequest[],
    options: CallOptions = {},
  ): Promise<readonly (readonly TokenId[])[]> {
    this.#requireOpen();
    options.signal?.throwIfAborted();
    const start = performance.now();
    try {
      return await this.#probed.served.tokenizer.tokenize(texts, options);
    } finally {
      this.#otherMeter = meterSum(this.#otherMeter, { ...zeroMeter, busyMs: performance.now() - start });
    }
  }

  async detokenize(ids: readonly (readonly TokenId[])[], options: CallOptions = {}): Promise<readonly string[]> {
    this.#requireOpen();
    options.signal?.throwIfAborted();
    return this.#probed.served.tokenizer.detokenize(ids, options);
  }

  async openSession(_scope: string, options: CallOptions = {}): Promise<EngineSession> {
    this.#requireOpen();
    options.signal?.throwIfAborted();
    const { connection, slotsFolder } = this.#place;
    const { served, states, scored } = this.#probed;
    const free = Array.from({ length: this.capabilities.sessions }, (_, id) => id).find(
      (id) => !this.#sessions.has(id),
    );
    if (free === undefined) {
      const message = `all ${this.capabilities.sessions} sessions of the engine are open`;
      throw new BenchError('no-session', message, 'close one, or open the engine with more');
    }
    const slot = new Slot(connection, free, served.alias, this.#ledger);
    const cells = new SessionCells();
    const session = new LlamaServerSession({
      slot,
      cells,
      exchange: states === null ? null : this.#exchange(slot, cells, states, slotsFolder!),
      info: this.info,
      capabilities: this.capabilities,
      scored,
      canErase: slotsFolder !== undefined,
      onClose: (last) => {
        this.#sessions.delete(free);
        this.#otherMeter = meterSum(this.#otherMeter, last);
      },
    });
    // At once: another call must not take the same slot.
    this.#sessions.set(free, session);
    try {
      await this.#requireSame(options);
      if (slotsFolder !== undefined) await slot.erase(options);
    } catch (error) {
      this.#sessions.delete(free);
      throw error;
    }
    return session;
  }

  /** @throws BenchError `unsupported`: the server holds one model, whole */
  async firstLayers(_layers: number, options: FirstLayersOptions = {}): Promise<Engine> {
    this.#requireOpen();
    throw unsupported(this.capabilities, neededFor(options));
  }

  async meter({ signal }: CallOptions = {}): Promise<TokenMeter> {
    this.#requireOpen();
    signal?.throwIfAborted();
    return [...this.#sessions.values()].reduce((sum, session) => meterSum(sum, session.reading()), this.#otherMeter);
  }

  async audit(options: CallOptions = {}): Promise<EngineAudit | null> {
    this.#requireOpen();
    options.signal?.throwIfAborted();
    return this.#ledger.audit(options);
  }

  async deleteCheckpoint({ id }: Pick<Checkpoint, 'id'>, { signal }: CallOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    this.#checkpoints.remove(id);
  }

  /** Closes all sessions, after the calls that they were given before. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      for (const session of this.#sessions.values()) await session[Symbol.asyncDispose]();
    } finally {
      this.#folder[Symbol.dispose]();
      await this.#place.close();
    }
  }

  #exchange(
    slot: Slot,
    cells: SessionCells,
    states: NonNullable<ProbedServer['states']>,
    slotsFolder: string,
  ): StateExchange {
    const { layout, form, streams } = states;
    return new StateExchange(
      { sequence: new SlotCarrier(this.#place.connection, slot, cells, slotsFolder), cells },
      {
        layout,
        form,
        sequences: streams,
        window: this.info,
        stateIdentity: this.info.stateIdentity!,
        checkpoints: this.#checkpoints,
        verified: null,
        scratchPath: join(this.#folder.path, `session-${this.#opened++}.state`),
      },
    );
  }

  /** @throws BenchError `changed` where another server answers now */
  async #requireSame(options: CallOptions): Promise<void> {
    const { connection } = this.#place;
    const { props } = this.#probed.served;
    const now = await connection.get('/props', propsShape, options);
    const facts = (of: typeof props): string =>
      `${of.model_path}, build ${of.build_info}, ${of.total_slots} slots of ${of.default_generation_settings.n_ctx} tokens`;
    if (facts(now) !== facts(props))
      throw connection.errors.changed(`it has ${facts(now)} now, and ${facts(props)} before`);
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new BenchError('no-session', 'the engine is closed', 'open it again');
  }
}
