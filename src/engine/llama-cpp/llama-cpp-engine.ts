import { join } from 'node:path';
import type { Token } from 'node-llama-cpp';
import { BaseEngine } from '../base-engine.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { requireCapability } from '../engine-capabilities.ts';
import type { EngineRequest } from '../engine-request.ts';
import type { CallOptions } from '../engine-session.ts';
import { type Engine, type FirstLayersOptions, neededFor, type TokenizeRequest } from '../engine.ts';
import { FirstLayers } from '../first-layers.ts';
import { writeFirstLayers } from '../gguf/first-layers-file.ts';
import { CheckpointFolder } from '../llama-state/checkpoint-folder.ts';
import { PrivateFolder } from '../llama-state/private-folder.ts';
import { StateExchange } from '../llama-state/state-exchange.ts';
import { VerifiedStates } from '../llama-state/verified-states.ts';
import { SessionCells } from '../session-cells.ts';
import type { TokenIds } from '../token-id.ts';
import type { TokenMeter } from '../token-meter.ts';
import { BusyClock } from './busy-clock.ts';
import { LlamaCppSession } from './llama-cpp-session.ts';
import { type LoadedModel, loadModel, type LoadOptions } from './loaded-model.ts';
import { NativeSequence } from './native-sequence.ts';
import { PrefillPace } from './prefill-chunks.ts';

const DEFAULT_CHECKPOINT_MEMORY_BYTES = 2 ** 28;

/** What an engine owns. */
interface EngineParts {
  readonly model: LoadedModel;
  readonly folder: PrivateFolder;
  readonly checkpoints: CheckpointFolder;
  readonly verified: VerifiedStates;
  readonly firstLayers: FirstLayers;
}

/**
 * A language model on llama.cpp in this process. On the CPU and without flash attention, as by default, a loaded prefix
 * gives the same bits as the evaluated one; otherwise the self-test reports the difference.
 *
 * @example
 * await using engine = await LlamaCppEngine.open('model.gguf', { model: 'model.gguf', contextTokens: 2048 });
 * await using session = await engine.openSession('user-1');
 */
export class LlamaCppEngine extends BaseEngine {
  readonly #parts: EngineParts;
  readonly #pace: PrefillPace;
  #opened = 0;

  private constructor(parts: EngineParts) {
    const { info, capabilities, batchTokens } = parts.model;
    super(info, capabilities);
    this.#parts = parts;
    this.#pace = new PrefillPace(batchTokens, info.model.parameters, capabilities.exactCuts);
  }

  /**
   * Loads a model for a number of sessions.
   * @throws BenchError `bad-model` where the file is no model, is cut short, is larger than free memory, or its window
   * does not fit; `not-found` where llama.cpp has no binary for this machine or finds no device; `disk`
   */
  static async open(path: string, request: EngineRequest, options: LoadOptions = {}): Promise<LlamaCppEngine> {
    const folder = new PrivateFolder();
    try {
      const checkpoints = new CheckpointFolder(request.checkpointFolder ?? join(folder.path, 'checkpoints'));
      const model = await loadModel(path, request, options);
      const verified = new VerifiedStates(request.checkpointMemoryBytes ?? DEFAULT_CHECKPOINT_MEMORY_BYTES);
      const firstLayers = new FirstLayers(model.info.model.layers ?? 0, async (layers, { queries, signal }) => {
        const first = join(folder.path, `first-${layers}-layers${queries === true ? '-queries' : ''}.gguf`);
        await writeFirstLayers(path, first, layers, queries);
        const { checkpointFolder: _, ...others } = { ...request, threads: model.info.threads ?? 1 };
        const { modelSha256: __, ...sameOptions } = options;
        return LlamaCppEngine.open(first, others, { ...sameOptions, signal });
      });
      return new LlamaCppEngine({ model, folder, checkpoints, verified, firstLayers });
    } catch (error) {
      folder[Symbol.dispose]();
      throw error;
    }
  }

  override async firstLayers(layers: number, options: FirstLayersOptions = {}): Promise<Engine> {
    this.requireOpen(options);
    requireCapability(this.capabilities, neededFor(options));
    return await this.#parts.firstLayers.of(layers, options);
  }

  override async deleteCheckpoint({ id }: Pick<Checkpoint, 'id'>, { signal }: CallOptions = {}): Promise<void> {
    signal?.throwIfAborted();
    this.#parts.verified.forget(id);
    this.#parts.checkpoints.remove(id);
  }

  protected tokenizeNow(texts: readonly TokenizeRequest[]): Promise<readonly TokenIds[]> {
    return Promise.resolve(texts.map((text) => this.#parts.model.tokenize(text)));
  }

  protected detokenizeNow(ids: readonly TokenIds[]): Promise<readonly string[]> {
    return Promise.resolve(ids.map((tokens) => this.#detokenize(tokens)));
  }

  protected newSession(_place: number, onClose: (last: TokenMeter) => void): LlamaCppSession {
    const { context, takeComplaint, info, capabilities } = this.#parts.model;
    const clock = new BusyClock();
    const sequence = new NativeSequence(context, clock, takeComplaint);
    const cells = new SessionCells();
    return new LlamaCppSession({
      sequence,
      cells,
      exchange: this.#exchange(sequence, cells),
      clock,
      info,
      capabilities,
      pace: this.#pace,
      detokenize: (tokens) => this.#detokenize(tokens),
      onClose,
    });
  }

  protected prepare(): Promise<void> {
    return Promise.resolve();
  }

  protected async release(): Promise<void> {
    const { firstLayers, model, verified, folder } = this.#parts;
    await firstLayers[Symbol.asyncDispose]();
    await model.dispose();
    verified[Symbol.dispose]();
    folder[Symbol.dispose]();
  }

  #exchange(sequence: NativeSequence, cells: SessionCells): StateExchange | null {
    const { model, folder, checkpoints, verified } = this.#parts;
    const { capabilities, info } = model;
    if (capabilities.cells === null || info.stateIdentity === null) return null;
    return new StateExchange(
      { sequence, cells },
      {
        layout: capabilities.cells.layout,
        window: info,
        sequences: capabilities.sessions,
        form: { version: 3, isWrapped: false },
        stateIdentity: info.stateIdentity,
        checkpoints,
        verified,
        scratchPath: join(folder.path, `session-${this.#opened++}.state`),
      },
    );
  }

  #detokenize(tokens: TokenIds): string {
    return this.#parts.model.model.detokenize(tokens as readonly Token[]);
  }
}
