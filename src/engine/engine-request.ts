import type { EngineChoice } from '../config/bench-config.ts';
import type { DownloadOptions } from '../models/hub/hub-file.ts';
import type { CallOptions } from './engine-session.ts';
import type { NumberType } from './sequence-state.ts';
import type { Engine } from './engine.ts';
import type { CapabilityName } from './engine-capabilities.ts';
import type { ModelDescription } from './engine-info.ts';
import type { z } from 'zod';

/** A model to load and the size of its sessions: options that every adapter understands. */
export interface EngineRequest {
  /** As `--model` names it: a file, `hf:org/repo/file.gguf`, `random:SHAPE`, or a name that the engine knows. */
  readonly model: string;
  /** Sessions that can be open at once. Default 1. */
  readonly sessions?: number;
  /** Positions of one session. Default: the window that the model was trained on, at most 4,096. */
  readonly contextTokens?: number;
  /** Cells for each position of a session: more than 1 where blocks share positions. Default 1. */
  readonly cellsPerPosition?: number;
  /** Default: 1 for a model below 50 million parameters, else one for each of `cores`. */
  readonly threads?: number;
  /** Cores that are its own where several processes compute. Default: all. */
  readonly cores?: number;
  /** The type in which keys and values are kept. Default F16, or the only one that the engine has. */
  readonly kvType?: NumberType;
  /** Keeps checkpoints beyond this process. Default: a private folder that goes with the engine. */
  readonly checkpointFolder?: string;
  /**
   * Bound of the verified copies of checkpoints that are kept in memory besides, where the engine can keep any; 0 for none, so that
   * every restoration reads its file. Default 256 MiB.
   */
  readonly checkpointMemoryBytes?: number;
}

/** A model as an adapter sees it before it reads weights. */
export interface EngineInspection {
  readonly model: ModelDescription;
  /** Capabilities that this engine will not have with this model, each with the reason in one line. */
  readonly missing: Readonly<Partial<Record<CapabilityName, string>>>;
}

/** An interface to accelerators, and what this machine has of it. */
export interface Accelerator {
  /** As the adapter's option names it. */
  readonly name: string;
  readonly devices: readonly string[];
  /** Of all devices together. */
  readonly memoryBytes: number;
  readonly freeBytes: number;
  /** The reason why it cannot be used, and what to do; null where it can. */
  readonly obstacle: { readonly why: string; readonly advice: string } | null;
}

/**
 * An adapter with its own options filled in: layers above the engine open models with it.
 *
 * @example
 * declare const opener: EngineOpener;
 * const { model, missing } = await opener.inspect('hf:org/repo/model.gguf');
 * if (missing.cells === undefined) await opener.open({ model: 'hf:org/repo/model.gguf', sessions: 3 });
 */
export interface EngineOpener {
  /** Describes a model without reading its weights. @throws BenchError `bad-model`, `bad-option`, `not-found` */
  inspect(model: string): Promise<EngineInspection>;
  /**
   * Fetches what a model's name stands for, where it lies on a hub.
   * @returns the model's file on this machine; undefined where the engine shows none
   */
  fetch(model: string, options?: DownloadOptions): Promise<string | undefined>;
  /** Loads a model. @throws BenchError `bad-model`, `bad-option`, `not-found`; the reason of the signal */
  open(request: EngineRequest, options?: CallOptions): Promise<Engine>;
  /** Accelerators that this machine could have, whether the options ask for them or not; none for an engine elsewhere. */
  accelerators(): Promise<readonly Accelerator[]>;
}

/** Chooses an adapter and binds its options: the composition root's, for whoever opens engines by the settings of a run. */
export type ComposeEngine = (choice: EngineChoice) => EngineOpener;

/**
 * One way to run models. `adapters.ts` lists them; the composition root alone chooses one.
 *
 * @example
 * import { adapterNamed } from './adapters.ts';
 *
 * const adapter = adapterNamed('llama-cpp');
 * const opener = adapter.opener(adapter.options.parse({}));
 * await using engine = await opener.open({ model: 'random:tiny-llama' });
 */
export interface EngineAdapter<Options = unknown> {
  /** As `--engine` names it. */
  readonly name: string;
  /** One line for `--help`. */
  readonly summary: string;
  /** Parses the options that are the adapter's own, by their keys in the configuration. */
  readonly options: z.ZodType<Options> & { readonly shape: Readonly<Record<string, unknown>> };
  /** Binds options that were parsed. */
  opener(options: Options): EngineOpener;
}
