import type { BenchDatabase } from '../db/database.ts';
import { TurnRepository } from '../db/turn-repository.ts';
import { storedTurn, type AnsweredTurn, type FailedTurn } from './stored-turn.ts';

/** The turns of a run, in the order in which they were written. */
export interface StoredTurns {
  readonly answered: readonly AnsweredTurn[];
  readonly failed: readonly FailedTurn[];
}

/** Reads what tables and gates need of the turns of a run. @throws BenchError `database` where an earlier release wrote one */
export function readStoredTurns(database: BenchDatabase, runId: string): StoredTurns {
  const answered: AnsweredTurn[] = [];
  const failed: FailedTurn[] = [];
  const shared = sharing();
  for (const row of new TurnRepository(database).listForResults(runId)) {
    const turn = storedTurn(row);
    if (turn.state === 'answered') answered.push(shared(turn));
    else failed.push(turn);
  }
  return { answered, failed };
}

/**
 * Lets the turns of an item, which are written one after the other, hold one copy of what is equal in them: what was
 * asked, how it was recalled, the prompt of arms that show the same. A long run fits into memory by that.
 */
function sharing(): (turn: AnsweredTurn) => AnsweredTurn {
  const names = new Map<string, string>();
  let known = new Map<string, unknown>();
  let itemId = '';
  const one = <Value>(value: Value, among = known): Value => {
    const key = JSON.stringify(value);
    if (!among.has(key)) among.set(key, value);
    return among.get(key) as Value;
  };
  return (turn) => {
    if (turn.itemId !== itemId) {
      known = new Map();
      itemId = turn.itemId;
    }
    const { scores, evidence } = turn;
    return {
      ...turn,
      itemId,
      userId: one(turn.userId, names),
      arm: one(turn.arm, names),
      answer: one(turn.answer),
      scores: { ...scores, passedStages: one(scores.passedStages) },
      evidence: {
        ...evidence,
        sequenceSha256: one(evidence.sequenceSha256),
        parity: one(evidence.parity),
        agreement: one(evidence.agreement),
      },
      tokens: one(turn.tokens),
      item: one(turn.item),
      retrieval: one(turn.retrieval),
      prompt: one(turn.prompt),
    };
  };
}
