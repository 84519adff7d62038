import { join } from 'node:path';
import type { Token } from 'node-llama-cpp';
import { BenchError } from '../../base/bench-error.ts';
import type { CallOptions, EngineSession } from '../engine-session.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { type EngineCapabilities, requireCapability } from '../engine-capabilities.ts';
import type { EngineInfo } from '../engine-info.ts';
import type { EngineRequest } from '../engine-request.ts';
import { type Engine, type FirstLayersOptions, neededFor, type TokenizeRequest } from '../engine.ts';
import { FirstLayers } from '../first-layers.ts';
import { writeFirstLayers } from '../gguf/first-layers-file.ts';
import type { TokenId } from '../token-id.ts';
import { meterSum, type TokenMeter, zeroMeter } from '../token-meter.ts';
import { BusyClock } from './busy-clock.ts';
import { CheckpointFolder } from '../llama-state/checkpoint-folder.ts';
import { LlamaCppSession } from './llama-cpp-session.ts';
import { type LoadedModel, loadModel, type LoadOptions } from './loaded-model.ts';
import { NativeSequence } from './native-sequence.ts';
import { PrefillPace } from './prefill-pace.ts';
import { PrivateFolder } from '../llama-state/private-folder.ts';
import { SessionCells } from '../llama-state/session-cells.ts';
import { StateExchange } from '../llama-state/state-exchange.ts';
import { VerifiedStates } from '../llama-state/verified-states.ts';

const DEFAULT_CHECKPOINT_MEMORY_BYTES = 2 ** 28;

/**
 * A language model on llama.cpp in this process. On the CPU and without flash attention, as by default, a prefix that was
 * loaded gives the bits of the same prefix that was evaluated; otherwise the self-test says how near it comes.
 *
 * @example
 * await using engine = await LlamaCppEngine.open('model.gguf', { model: 'model.gguf', contextTokens: 2048 });
 * await using session = await engine.openSession('user-1');
 */
export class LlamaCppEngine implements Engine {
  readonly info: EngineInfo;
  readonly capabilities: EngineCapabilities;
  readonly #model: LoadedModel;
  readonly #folder: PrivateFolder;
  readonly #checkpoints: CheckpointFolder;
  readonly #verified: VerifiedStates;
  readonly #clock = new BusyClock();
  readonly #pace: PrefillPace;
  readonly #sessions = new Set<LlamaCppSession>();
  readonly #firstLayers: FirstLayers;
  /** Of sessions that are closed. */
  #closedMeter: TokenMeter = zeroMeter;
  #opened = 0;
  #isClosed = false;

  private constructor(
    model: LoadedModel,
    folder: PrivateFolder,
    checkpoints: CheckpointFolder,
    verified: VerifiedStates,
    openFirst: (layers: number, options: FirstLayersOptions) => Promise<Engine>,
  ) {
    this.#model = model;
    this.#firstLayers = new FirstLayers(model.info.model.layers ?? 0, openFirst);
    this.#pace = new PrefillPace(model.batchTokens, model.info.model.parameters, model.capabilities.exactCuts);
    this.info = model.info;
    this.capabilities = model.capabilities;
    this.#folder = folder;
    this.#checkpoints = checkpoints;
    this.#verified = verified;
  }

  /**
   * Loads a model with the sessions that it shall have.
   * @throws BenchError `bad-model` where the file is no model, is cut short, is larger than free memory, or its window
   * does not fit; `not-found` where llama.cpp has no binary for this machine or finds no device; `disk`
   */
  static async open(path: string, request: EngineRequest, options: LoadOptions = {}): Promise<LlamaCppEngine> {
    const folder = new PrivateFolder();
    try {
      const checkpoints = new CheckpointFolder(request.checkpointFolder ?? join(folder.path, 'checkpoints'));
      const model = await loadModel(path, request, options);
      const verified = new VerifiedStates(request.checkpointMemoryBytes ?? DEFAULT_CHECKPOINT_MEMORY_BYTES);
      return new LlamaCppEngine(model, folder, checkpoints, verified, async (layers, { queries, signal }) => {
        const first = join(folder.path, `first-${layers}-layers${queries === true ? '-queries' : ''}.gguf`);
        await writeFirstLayers(path, first, layers, queries);
        const { checkpointFolder: _, ...others } = { ...request, threads: model.info.threads ?? 1 };
        const { modelSha256: __, ...sameOptions } = options;
        return LlamaCppEngine.open(first, others, { ...sameOptions, signal });
      });
    } catch (error) {
      folder[Symbol.dispose]();
      throw error;
    }
  }

  async tokenize(
    texts: readonly TokenizeRequest[],
    { signal }: CallOptions = {},
  ): Promise<readonly (readonly TokenId[])[]> {
    this.#requireOpen();
    signal?.throwIfAborted();
    return this.#clock.timeSync(() => texts.map((text) => this.#model.tokenize(text)));
  }

  async detokenize(ids: readonly (readonly TokenId[])[], { signal }: CallOptions = {}): Promise<readonly string[]> {
    this.#requireOpen();
    signal?.throwIfAborted();
    return ids.map((tokens) => this.#detokenize(tokens));
  }

  async openSession(_scope: string, { signal }: CallOptions = {}): Promise<EngineSession> {
    this.#requireOpen();
    signal?.throwIfAborted();
    const { context, takeComplaint, info, capabilities } = this.#model;
    if (context.sequencesLeft === 0) {
      const message = `all ${capabilities.sessions} sessions of the engine are open`;
      throw new BenchError('no-session', message, 'close one, or open the engine with more');
    }
    const clock = new BusyClock();
    const sequence = new NativeSequence(context, clock, takeComplaint);
    const cells = new SessionCells();
    const session = new LlamaCppSession({
      sequence,
      cells,
      exchange: this.#exchange({ sequence, cells }),
      clock,
      info,
      capabilities,
      pace: this.#pace,
      detokenize: (tokens) => this.#detokenize(tokens),
      onClose: (last) => {
        this.#sessions.delete(session);
        this.#closedMeter = meterSum(this.#closedMeter, last);
      },
    });
    this.#sessions.add(session);
    return session;
  }

  async firstLayers(layers: number, options: FirstLayersOptions = {}): Promise<Engine> {
    this.#requireOpen();
    options.signal?.throwIfAborted();
    requireCapability(this.capabilities, neededFor(options));
    return await this.#firstLayers.of(layers, options);
  }

  async meter({ signal }: CallOptions = {}): Promise<TokenMeter> {
    this.#requireOpen();
    signal?.throwIfAborted();
    const ofSessions = [...this.#sessions].reduce(
      (sum, session) => meterSum(sum, session.reading()),
      this.#closedMeter,
    );
    return meterSum(ofSessions, { ...zeroMeter, busyMs: this.#clock.ms });
  }

  async audit({ signal }: CallOptions = {}): Promise<null> {
    this.#requireOpen();
    signal?.throwIfAborted();
    return null;
  }

  async deleteCheckpoint({ id }: Pick<Checkpoint, 'id'>, { signal }: CallOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    this.#verified.forget(id);
    this.#checkpoints.remove(id);
  }

  /** Closes all sessions, after the calls that they were given before. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const session of this.#sessions) await session[Symbol.asyncDispose]();
    await this.#firstLayers[Symbol.asyncDispose]();
    await this.#model.dispose();
    this.#verified[Symbol.dispose]();
    this.#folder[Symbol.dispose]();
  }

  #exchange(session: { readonly sequence: NativeSequence; readonly cells: SessionCells }): StateExchange | null {
    const { capabilities, info } = this.#model;
    const { cells, sessions } = capabilities;
    if (cells === null || info.stateIdentity === null) return null;
    return new StateExchange(session, {
      layout: cells.layout,
      window: info,
      sequences: sessions,
      form: { version: 3, isWrapped: false },
      stateIdentity: info.stateIdentity,
      checkpoints: this.#checkpoints,
      verified: this.#verified,
      scratchPath: join(this.#folder.path, `session-${this.#opened++}.state`),
    });
  }

  #detokenize(tokens: readonly TokenId[]): string {
    return this.#model.model.detokenize(tokens as readonly Token[]);
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new BenchError('no-session', 'the engine is closed', 'open it again');
  }
}
