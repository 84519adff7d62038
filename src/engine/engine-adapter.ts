import type { EngineChoice } from '../config/bench-config.ts';
import type { DownloadOptions } from '../models/hub/fetch-hub-file.ts';
import type { CallOptions } from './engine-session.ts';
import type { NumberType } from './sequence-state.ts';
import type { Engine } from './engine.ts';
import type { CapabilityName } from './engine-capabilities.ts';
import type { ModelDescription } from './engine-info.ts';
import type { z } from 'zod';

/** A model to load and the size of its sessions, for every adapter. */
export interface EngineRequest {
  /** The value of `--model`: a file, `hf:org/repo/file.gguf`, `random:SHAPE`, or the engine's own name. */
  readonly model: string;
  readonly sessions?: number;
  /** Positions of one session. Default: the window that the model was trained on, at most 4,096. */
  readonly contextTokens?: number;
  /** Cells for each position of a session: more than 1 where blocks share positions. Default 1. */
  readonly cellsPerPosition?: number;
  /** Default: 1 for a model below 50 million parameters, else one for each of `cores`. */
  readonly threads?: number;
  /** Cores for this process where several compute. Default: all. */
  readonly cores?: number;
  /** Storage type of keys and values. Default F16, or the only one of the engine. */
  readonly kvType?: NumberType;
  /** Stores checkpoints beyond this process. Default: a private folder, deleted with the engine. */
  readonly checkpointFolder?: string;
  /** Most bytes of verified copies of checkpoints in memory; with 0 every restoration reads its file. Default 256 MiB. */
  readonly checkpointMemoryBytes?: number;
}

/** A model before its weights are read. */
export interface EngineInspection {
  readonly model: ModelDescription;
  /** Types of its weights by their shares of the bytes, the largest first; missing where the engine does not show them. */
  readonly weights?: readonly { readonly type: string; readonly share: number }[];
  /** Capabilities that the engine will lack with this model, each with the reason in one line. */
  readonly missing: Readonly<Partial<Record<CapabilityName, string>>>;
}

/** An interface to accelerators, and its devices on this machine. */
export interface Accelerator {
  /** The value of the adapter's option. */
  readonly name: string;
  readonly devices: readonly string[];
  readonly memoryBytes: number;
  readonly freeBytes: number;
  /** Why it cannot be used, and what to do; null where it can. */
  readonly obstacle: { readonly why: string; readonly advice: string } | null;
}

/**
 * An adapter with its options: layers above the engine open models with it.
 *
 * @example
 * declare const opener: EngineOpener;
 * const { model, missing } = await opener.inspect('hf:org/repo/model.gguf');
 * if (missing.cells === undefined) await opener.open({ model: 'hf:org/repo/model.gguf', sessions: 3 });
 */
export interface EngineOpener {
  /** Describes a model without reading its weights. @throws BenchError `bad-model`, `bad-option`, `not-found` */
  inspect(model: string): Promise<EngineInspection>;
  /** Fetches a model of a hub. @returns its file on this machine; undefined where the engine shows none */
  fetch(model: string, options?: DownloadOptions): Promise<string | undefined>;
  /** Loads a model. @throws BenchError `bad-model`, `bad-option`, `not-found`; the reason of the signal */
  open(request: EngineRequest, options?: CallOptions): Promise<Engine>;
  /** Accelerators that this machine could have, whatever the options; none for an engine elsewhere. */
  accelerators(): Promise<readonly Accelerator[]>;
}

/** Chooses an adapter and binds its options; the composition root passes it to what opens engines by a run's settings. */
export type ComposeEngine = (choice: EngineChoice) => EngineOpener;

/**
 * One way to run models. `adapters.ts` lists them; only the composition root chooses one.
 *
 * @example
 * import { adapterNamed } from './adapters.ts';
 *
 * const adapter = adapterNamed('llama-cpp');
 * const opener = adapter.opener(adapter.options.parse({}));
 * await using engine = await opener.open({ model: 'random:tiny-llama' });
 */
export interface EngineAdapter<Options = unknown> {
  readonly name: string;
  /** One line for `--help`. */
  readonly summary: string;
  /** Parses the adapter's own options, by their keys in the configuration. */
  readonly options: z.ZodType<Options> & { readonly shape: Readonly<Record<string, unknown>> };
  /** Binds the adapter to its options. */
  opener(options: Options): EngineOpener;
}
