import type { SequenceScore } from '../../src/engine/sequence-score.ts';
import type { MemorySearchResult } from '../../src/retrieval/retriever.ts';
import type { ChatResponse } from '../../src/systems/contracts.ts';
import type { OpenEngine } from '../../src/systems/answer-turn.ts';

/** Memories as a retriever gives them, best first; those of a favourite are preferences. */
export function memoriesOf(...contents: readonly string[]): MemorySearchResult[] {
  return contents.map((content, index) => ({
    memoryId: `m${index + 1}`,
    content,
    score: 0.9 - 0.1 * index,
    metadata: { preference: content.includes('favourite') },
  }));
}

/**
 * Scores an answer behind the KV that a turn left in its session, in another session: from where the suffix of the turn
 * began. Call it before the next turn of the session.
 */
export async function scoreBehind(
  { engine, session }: OpenEngine,
  { trace }: ChatResponse,
  answer: string,
): Promise<SequenceScore> {
  const [continuation] = await engine.tokenize([{ text: answer, as: 'text' }]);
  await using scoring = await engine.openSession('scoring');
  if (trace.prefixPositions > 0) {
    const checkpoint = await session.checkpoint();
    await scoring.restore(checkpoint);
    await engine.deleteCheckpoint(checkpoint);
    await scoring.truncate(trace.prefixPositions);
  }
  return await scoring.score(trace.suffix, continuation!);
}
