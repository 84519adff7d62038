import type { CallOptions } from '../../../engine/call-options.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineSession } from '../../../engine/engine-session.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { TurnTrace } from '../../../systems/turn-trace.ts';
import type { RecordedGeneration } from '../record/turn-recorder.ts';

/** Of a prompt that was evaluated whole, so many of its last tokens are evaluated again. */
const LEAST_SUFFIX = 2;

/** An engine to prove with: `scoring` is a session that no arm uses and no turn's meter counts. */
export interface ProverParts {
  readonly engine: Pick<Engine, 'capabilities' | 'deleteCheckpoint' | 'firstLayers'>;
  readonly scoring: EngineSession;
}

/**
 * Generates an answer again, in another session, from the K/V that its turn left: behind what was injected, or, of a prompt
 * that was evaluated whole, from its last tokens on.
 * @returns true where it is the same, token by token
 */
export async function sameAgain(
  { engine, scoring }: ProverParts,
  { session, suffix, limits, given }: RecordedGeneration,
  { prefixPositions }: Pick<TurnTrace, 'prefixPositions'>,
  options: CallOptions,
): Promise<boolean> {
  const { onToken: _, ...sameLimits } = limits;
  const generate = async (behind: readonly TokenId[]): Promise<boolean> => {
    const { tokens } = await scoring.generate(behind, sameLimits, options);
    return tokens.join() === given.tokens.join();
  };
  if (!engine.capabilities.checkpoints || session.cells === 0) {
    await scoring.clear(options);
    return generate(suffix);
  }
  const checkpoint = await session.checkpoint(options);
  try {
    await scoring.restore(checkpoint, options);
    const wanted = prefixPositions === 0 ? Math.max(0, suffix.length - LEAST_SUFFIX) : prefixPositions;
    // A system may have cut its session since.
    const cut = Math.min(wanted, scoring.tokens.length);
    await scoring.truncate(cut, options);
    return await generate(suffix.slice(Math.max(0, cut - prefixPositions)));
  } finally {
    await engine.deleteCheckpoint(checkpoint);
  }
}
