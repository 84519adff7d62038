import type { BenchConfig, SuiteName } from '../../../config/bench-config.ts';

/** Everything that a worker needs to take part in a run: data that another process can be given. */
export interface WorkerTask {
  readonly suite: SuiteName;
  /** Id of the run. */
  readonly run: string;
  /** Of the run's report. */
  readonly folder: string;
  /** From 2 on: the process that makes the run is the first. */
  readonly number: number;
  /** The name under which it claims users. */
  readonly worker: string;
  /** The settings that are in force. */
  readonly config: BenchConfig;
}

/** Calls that tell how a worker comes on. */
export interface WorkerEvents {
  /** Called after every turn, with the number of turns that its user has taken. */
  readonly onTurn: (turns: number) => void;
  /** Called when all turns of a user are stored. */
  readonly onUser: () => void;
}

/** A worker of a run that was started. */
export interface RunningWorker {
  /** Lets it take turns: the self-tests have passed. Until then it loads its model, claims its first user and warms up on them. */
  begin(): void;
  /** Asks it to end soon. */
  stop(): void;
  /** Ends it at once. */
  kill(): void;
  /** Null where it came to its end, else how it ended; never rejects. */
  readonly ended: Promise<string | null>;
}

/** Starts a process that takes part in a run: the composition root's. */
export type StartWorker = (task: WorkerTask, events: WorkerEvents) => RunningWorker;
