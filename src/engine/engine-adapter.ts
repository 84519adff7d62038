import type { EngineChoice } from '../config/bench-config.ts';
import type { CallOptions } from './engine-session.ts';
import type { NumberType, Window } from './sequence-state.ts';
import type { Engine } from './engine.ts';
import type { CapabilityName } from './engine-capabilities.ts';
import type { ModelDescription } from './engine-info.ts';
import type { z } from 'zod';
import type { DownloadOptions } from '../models/hub/download-file.ts';

/** A model to load and the size of its sessions; the same for every adapter. */
export interface EngineRequest {
  /** The value of `--model`: a file, `hf:org/repo/file.gguf`, `random:SHAPE`, or a server's name for the model. */
  readonly model: string;
  readonly sessions?: number;
  /** Positions of one session. Default: the model's training context, at most 4,096. */
  readonly contextTokens?: number | undefined;
  /** Cells per position of a session: more than 1 if blocks share positions. Default 1. */
  readonly cellsPerPosition?: number | undefined;
  /** Default: 1 for a model below 50 million parameters, else `cores`. */
  readonly threads?: number | undefined;
  /** Cores for this process, if several processes run models. Default: all. */
  readonly cores?: number | undefined;
  /** Number type of keys and values. Default: F16, or the only one that the engine has. */
  readonly kvType?: NumberType;
  /** Folder of checkpoints that outlive this process. Default: a private folder, deleted with the engine. */
  readonly checkpointFolder?: string;
  /** Limit for verified checkpoint copies in memory, in bytes; 0 makes every restore read the file. Default 256 MiB. */
  readonly checkpointMemoryBytes?: number;
}

/** Limit of the default window; a request may name a longer one. */
const LONGEST_DEFAULT_CONTEXT_TOKENS = 4096;

/** The requested window of a session. @param longest the most positions that model or server allows */
export function sessionWindow(request: Omit<EngineRequest, 'model'>, longest: number): Window {
  const { contextTokens: given, cellsPerPosition = 1 } = request;
  const contextTokens = given ?? Math.min(longest, LONGEST_DEFAULT_CONTEXT_TOKENS);
  return { contextTokens, cellTokens: contextTokens * cellsPerPosition };
}

/** A model, inspected without reading its weights. */
export interface EngineInspection {
  readonly model: ModelDescription;
  /** Weight types and their share of the bytes, largest first; missing if the engine does not show them. */
  readonly weights?: readonly { readonly type: string; readonly share: number }[];
  /** Capabilities that the engine will lack with this model, each with the reason in one line. */
  readonly missing: Readonly<Partial<Record<CapabilityName, string>>>;
}

/** An accelerator backend, such as CUDA, and its devices on this machine. */
export interface Accelerator {
  /** The value of the adapter's option. */
  readonly name: string;
  readonly devices: readonly string[];
  readonly memoryBytes: number;
  readonly freeBytes: number;
  /** Why it cannot be used, and what to do about it; null if it can be used. */
  readonly obstacle: { readonly why: string; readonly advice: string } | null;
}

/**
 * An adapter bound to its options. Layers above the engine use it to open models.
 *
 * @example
 * declare const opener: EngineOpener;
 * const { model, missing } = await opener.inspect('hf:org/repo/model.gguf');
 * if (missing.cells === undefined) await opener.open({ model: 'hf:org/repo/model.gguf', sessions: 3 });
 */
export interface EngineOpener {
  /**
   * Describes a model without reading its weights.
   * @param contextTokens positions of a session, on which some capabilities depend; default: as for `open`
   * @throws BenchError `bad-model`, `bad-option`, `not-found`
   */
  inspect(model: string, contextTokens?: number): Promise<EngineInspection>;
  /** Downloads a model if it is on a hub. @returns its local file; undefined if the model is a server's */
  fetch(model: string, options?: DownloadOptions): Promise<string | undefined>;
  /** Loads a model. @throws BenchError `bad-model`, `bad-option`, `not-found`; the signal's reason */
  open(request: EngineRequest, options?: CallOptions): Promise<Engine>;
  /** Accelerators supported on this platform, whether or not the options use them; none for servers. */
  accelerators(): Promise<readonly Accelerator[]>;
}

/** Selects an adapter and gives it its options; `bench/` passes it to code that opens the engine of a run's settings. */
export type SelectEngine = (choice: EngineChoice) => EngineOpener;

/**
 * A way to run models, listed in `adapters.ts`. Only `bench/select-engine.ts` selects one.
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
  /** Schema of the adapter's options; the keys are those of the configuration. */
  readonly options: z.ZodType<Options> & { readonly shape: Readonly<Record<string, unknown>> };
  /** Binds the adapter to its options. */
  opener(options: Options): EngineOpener;
}
