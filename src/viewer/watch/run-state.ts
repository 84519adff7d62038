import type { FaultyTurn } from '../../store/run-growth-repository.ts';
import type { ArmSoFar } from '../../eval/analysis/users-so-far.ts';
import type { MetricDeclaration } from '../../store/records/metric-declaration.ts';
import type { RunRecord } from '../../store/records/run-record.ts';

/** Turns that failed, or fail a check by themselves. */
export interface FaultsSoFar {
  /** Turns by check. */
  readonly checks: ReadonlyMap<string, number>;
  /** Turns that failed. */
  readonly errors: number;
  /** A few of the last, the latest first. */
  readonly latest: readonly FaultyTurn[];
}

/** How far a run has come. */
export interface RunState extends Pick<RunRecord, 'name' | 'suite' | 'status' | 'startedAt'> {
  /** The self-tests have passed: turns follow. */
  readonly begun: boolean;
  readonly turns: number;
  readonly ofTurns: number;
  /** Users whose turns are all there. */
  readonly users: number;
  readonly ofUsers: number;
  /** Of the last minutes; null where too few turns were written in them. */
  readonly turnsPerSecond: number | null;
  /** Milliseconds since 1970; null before the first turn, and of a run that does not go on. */
  readonly lastTurnAt: number | null;
  readonly readAt: number;
  /** The metric that verdicts will be on. */
  readonly primary: MetricDeclaration;
  /** Why no quality of answers is given; null if it is. */
  readonly unknownQuality: string | null;
  /** Over the users whose turns are all there. */
  readonly arms: readonly ArmSoFar[];
  readonly faults: FaultsSoFar;
}
