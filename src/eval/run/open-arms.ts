import type { BenchConfig } from '../../config/bench-config.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { Arm } from '../../systems/arms/arm-registry.ts';
import type { BenchSystem } from '../../systems/contracts.ts';
import type { MemoryKeeper } from '../../systems/memory-keeper.ts';
import { type BenchParts, systemParts } from './bench-parts.ts';
import type { KvFolder } from './kv-folder.ts';
import { TurnRecorder } from './record/turn-recorder.ts';

/** An arm with its system and the session in which it answers, open for the whole run. */
export interface OpenArm {
  readonly arm: Arm;
  readonly system: BenchSystem;
  readonly session: EngineSession;
  /** Stands between the system and all that serves it. */
  readonly recorder: TurnRecorder;
  /** Opens another system on the same store. */
  readonly reopen: () => BenchSystem;
}

/**
 * Opens every arm on the same parts, so that nothing but memories and prefill strategy differs. Arms that keep their session
 * have one each; all others share one, which each of them clears or replaces before its turn.
 */
export async function openArms(
  parts: BenchParts,
  stores: KvFolder,
  { config, runId, arms }: { readonly config: BenchConfig; readonly runId: string; readonly arms: readonly Arm[] },
  memories: MemoryKeeper,
): Promise<readonly OpenArm[]> {
  const shared = await parts.engine.openSession(runId);
  const open: OpenArm[] = [];
  for (const arm of arms) {
    const { name, keepsSession } = arm.traits;
    const session = keepsSession ? await parts.engine.openSession(`${runId}/${name}`) : shared;
    const recorder = new TurnRecorder(parts.engine);
    const reopen = (): BenchSystem =>
      arm.open(recorder.parts(systemParts(parts, session, config, memories), stores.opener(name)));
    open.push({ arm, system: reopen(), session, recorder, reopen });
  }
  return open;
}
