import type { DownloadProgress } from '../../models/hub/fetch-hub-file.ts';
import type { EngineOpener } from '../../engine/engine-adapter.ts';
import type { RunEstimate } from './plan/run-estimate.ts';
import type { ArmDefinition } from '../../systems/arms/arm-definition.ts';

/** Progress of a run: `done` of `total` steps of its phase. */
export interface Progress {
  /** Given where a suite begins. */
  readonly suite?: string;
  readonly phase: 'load' | 'self-test' | 'warm-up' | 'turns' | 'isolation' | 'measure' | 'judge' | 'report';
  readonly done: number;
  readonly total: number;
}

/** Callbacks of a bench, and parts that a program brings to it. */
export interface BenchHooks {
  /** Called at every step of every phase. */
  readonly onProgress?: (progress: Progress) => void;
  /** Called after the warm-up, where turns are left to take. */
  readonly onEstimate?: (estimate: RunEstimate) => void;
  /** Called with what a user should know at once, and finds in the notes of the run. */
  readonly onNote?: (note: string) => void;
  /** Called when a run has its name in the database: from then on it can be resumed. */
  readonly onBegin?: (run: string) => void;
  /** Called while a model is fetched from the hub. */
  readonly onDownload?: (progress: DownloadProgress) => void;
  /** Ends the run, within a turn too; it can be resumed. A download goes on where it ended as well. */
  readonly signal?: AbortSignal;
  /** Arms of one's own, asked for by name in `config.arms`. */
  readonly arms?: readonly ArmDefinition[];
  /** An engine of one's own, in place of that which the configuration names. */
  readonly engine?: EngineOpener;
}
