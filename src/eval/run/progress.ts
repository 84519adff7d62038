import type { Arm } from './arms.ts';

/** How far a run is; `done` of `total` steps of its phase. */
export interface Progress {
  readonly phase: 'load' | 'self-test' | 'warm-up' | 'turns' | 'isolation' | 'report';
  readonly done: number;
  readonly total: number;
}

export interface BenchHooks {
  readonly onProgress?: (progress: Progress) => void;
  /** Ends the run between two turns; it can be resumed. */
  readonly signal?: AbortSignal;
  /** Arms of one's own, asked for by name in `config.arms`. */
  readonly arms?: readonly Arm[];
}
