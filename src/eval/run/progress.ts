import type { DownloadProgress } from '../../config/hub/hub-file.ts';
import type { ArmDefinition } from '../../systems/arms/arm-definition.ts';

/** Progress of a run: `done` of `total` steps of its phase. */
export interface Progress {
  /** Given where a suite begins. */
  readonly suite?: string;
  readonly phase: 'load' | 'self-test' | 'warm-up' | 'turns' | 'isolation' | 'measure' | 'report';
  readonly done: number;
  readonly total: number;
}

export interface BenchHooks {
  readonly onProgress?: (progress: Progress) => void;
  /** Called while a model is fetched from the hub. */
  readonly onDownload?: (progress: DownloadProgress) => void;
  /** Ends the run between two turns; it can be resumed. A download goes on where it ended as well. */
  readonly signal?: AbortSignal;
  /** Arms of one's own, asked for by name in `config.arms`. */
  readonly arms?: readonly ArmDefinition[];
}
