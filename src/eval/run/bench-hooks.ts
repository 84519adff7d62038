import type { EngineOpener } from '../../engine/engine-adapter.ts';
import type { RetrieverDefinition } from '../../retrieval/open-retriever.ts';
import type { RunEstimate } from './plan/run-estimate.ts';
import type { ArmDefinition } from '../../systems/arms/arm-definition.ts';
import type { DownloadProgress } from '../../models/hub/download-file.ts';

/** Progress of a run: `done` of `total` steps of its phase. */
export interface Progress {
  /** Set only on the first call for a suite. */
  readonly suite?: string;
  readonly phase:
    'load' | 'warm-up' | 'self-test' | 'turns' | 'isolation' | 'checks' | 'measure' | 'judge' | 'analysis';
  readonly done: number;
  readonly total: number;
}

/** Callbacks of a run, and the arms, retriever and engine that the calling program brings. */
export interface BenchHooks {
  /** Called at every step of every phase. */
  readonly onProgress?: (progress: Progress) => void;
  /** Called after the warm-up if any turns remain. */
  readonly onEstimate?: (estimate: RunEstimate) => void;
  /** Called with what the user should know at once, such as a worker that ended early. */
  readonly onNote?: (note: string) => void;
  /** Called with the name of a run once it is stored; from then on it can be resumed. */
  readonly onBegin?: (run: string) => void;
  /** Called while a model is fetched from the hub. */
  readonly onDownload?: (progress: DownloadProgress) => void;
  /** Notes on the circumstances of the runs, stored with each. */
  readonly notes?: readonly string[];
  /** Aborts the run, even during a turn. An aborted run or download can be resumed. */
  readonly signal?: AbortSignal;
  /** Arms of the calling program; select them by name in `config.arms`. */
  readonly arms?: readonly ArmDefinition[];
  /** A retriever of the calling program; all arms get what it retrieves, in place of the configured one. */
  readonly retriever?: RetrieverDefinition;
  /** An engine of the calling program; it replaces the one that the configuration names. */
  readonly engine?: EngineOpener;
}
