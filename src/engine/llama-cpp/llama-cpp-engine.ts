import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { BaseEngine, type EngineParts } from '../base-engine.ts';
import type { SessionParts } from '../base-session.ts';
import { requireCapability } from '../engine-capabilities.ts';
import type { EngineRequest } from '../engine-adapter.ts';
import { type Engine, type FirstLayersOptions, firstLayersCapability } from '../engine.ts';
import { type FirstLayerEngines, firstLayerEngines } from '../first-layer-engines.ts';
import { writeFirstLayers } from '../gguf/write-first-layers.ts';
import { type EngineKvStorage, engineKvStorage } from '../llama-state/engine-kv-storage.ts';
import { LlamaCppSession, chunkRule } from './llama-cpp-session.ts';
import { type LoadedModel, loadModel, type LoadOptions } from './load-model.ts';
import { NativeSequence } from './native-sequence.ts';

const DEFAULT_CHECKPOINT_MEMORY_BYTES = 2 ** 28;

interface LlamaCppParts extends EngineParts {
  readonly model: LoadedModel;
  readonly states: EngineKvStorage;
  readonly firstLayers: FirstLayerEngines;
}

/**
 * A language model on llama.cpp in this process. By default, on the CPU and without flash attention, a loaded prefix gives the
 * same bits as an evaluated one if it ends at a multiple of `exactCuts`. Otherwise the self-test reports the difference.
 *
 * @example
 * await using engine = await LlamaCppEngine.open('model.gguf', { model: 'model.gguf', contextTokens: 2048 });
 * await using session = await engine.openSession('user-1');
 */
export class LlamaCppEngine extends BaseEngine<LlamaCppParts> {
  /**
   * Loads a model and makes a context for the requested sessions.
   * @throws BenchError `bad-model` if the file is no model, is cut short, or does not fit into memory; `bad-option` if its window
   * does not; `not-found` if llama.cpp has no binary for this machine or finds no device; `disk`
   */
  static async open(path: string, request: EngineRequest, options: LoadOptions = {}): Promise<LlamaCppEngine> {
    const states = engineKvStorage(request, request.checkpointMemoryBytes ?? DEFAULT_CHECKPOINT_MEMORY_BYTES);
    try {
      const model = await loadModel(path, request, options);
      const { info, capabilities, tokenizer } = model;
      const firstLayers = firstLayerEngines(info.model.layers ?? 0, async (layers, { queries }) => {
        const first = join(states.folder.path, `first-${layers}-layers${queries === true ? '-queries' : ''}.gguf`);
        await writeFirstLayers(path, first, layers, queries);
        const { checkpointFolder: _, ...others } = { ...request, threads: info.threads };
        const { modelSha256: __, signal: ___, ...sameOptions } = options;
        return LlamaCppEngine.open(first, others, sameOptions);
      });
      return new LlamaCppEngine({ info, capabilities, tokenizer, model, states, firstLayers });
    } catch (error) {
      states[Symbol.dispose]();
      throw error;
    }
  }

  override async firstLayers(layers: number, options: FirstLayersOptions = {}): Promise<Engine> {
    this.requireOpen(options);
    requireCapability(this.capabilities, firstLayersCapability(options));
    return await this.parts.firstLayers.open(layers, options);
  }

  protected newSession(_sessionIndex: number, parts: Omit<SessionParts, 'exchange'>): LlamaCppSession {
    const { model, states } = this.parts;
    const { info, capabilities } = this;
    const { batchTokens, detokenize } = model;
    const chunks = chunkRule(batchTokens, model.info.model.parameters, capabilities.exactCuts);
    const { truncatesUpTo } = capabilities;
    const sequence = new NativeSequence(
      model.context,
      model.takeComplaint,
      truncatesUpTo === null
        ? undefined
        : { upTo: truncatesUpTo, markPath: join(states.folder.path, `mark-${randomUUID()}.state`) },
    );
    const exchange =
      info.stateIdentity === null
        ? null
        : states.exchange({
            sequence,
            cells: parts.cells,
            layout: capabilities.cells?.layout ?? null,
            window: info,
            sequences: capabilities.sessions,
            form: { version: 3, isWrapped: false },
            windowed: capabilities.cells?.rotary.windowed?.layers ?? [],
            stateIdentity: info.stateIdentity,
          });
    return new LlamaCppSession({ ...parts, exchange, sequence, chunks, batchTokens, detokenize });
  }

  protected override async release(): Promise<void> {
    await this.parts.firstLayers[Symbol.asyncDispose]();
    await this.parts.model.dispose();
  }
}
