import type { DatasetUser } from '../../data/dataset.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { EmbeddingService } from '../../models/embedding/embedding-service.ts';
import type { Arm } from '../../systems/arms/arm-registry.ts';
import type { BenchSystem } from '../../systems/contracts.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';
import type { Judge } from './judge/judge.ts';
import type { ObserverParts } from './observe/turn-observer.ts';
import type { PlanUser } from './plan/plan-users.ts';
import type { TurnSample } from './prove/turn-sample.ts';
import type { TurnRecorder } from './observe/turn-recorder.ts';
import type { RunClock } from './run-clock.ts';
import type { Suite } from './suite.ts';
import type { WriterParts } from './observe/turn-writer.ts';
import type { Claims } from './workers/claims.ts';

/** An arm with its system and its session, open for the whole run. */
export interface OpenArm {
  readonly arm: Arm;
  readonly system: BenchSystem;
  readonly session: EngineSession;
  /** Stands between the system and everything that serves it. */
  readonly recorder: TurnRecorder;
  /** Opens another system on the same store. */
  readonly reopen: () => BenchSystem;
}

/** Everything that all users of a run share. */
export interface RunBench extends WriterParts, ObserverParts {
  readonly claims: Claims;
  readonly suite: Suite;
  /** All users of the plan. */
  readonly users: readonly DatasetUser[];
  /** Those in the shard of this run. */
  readonly planned: readonly PlanUser[];
  /** Turns that are proven. */
  readonly sample: TurnSample;
  /** Users whose memories the negative control may show. */
  readonly controlUsers: readonly DatasetUser[];
  readonly keeper: MemoryKeeper;
  readonly embeddings: EmbeddingService;
  readonly arms: readonly OpenArm[];
  readonly settings: {
    readonly seed: number;
    readonly topK: number;
    readonly threshold: number;
    readonly repeats: number;
  };
  readonly clock: RunClock;
  /** Judges the answers after all turns. */
  readonly judge?: Judge;
  /** Users share KV (`--kv-store`). */
  readonly sharesStore: boolean;
}
