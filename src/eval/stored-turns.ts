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

/** Lets all turns of an item hold one copy of what they were asked and of how it was recalled, which is the same for all. */
function sharing(): (turn: AnsweredTurn) => AnsweredTurn {
  const items = new Map<string, Pick<AnsweredTurn, 'itemId' | 'userId' | 'item' | 'retrieval'>>();
  return (turn) => {
    const { itemId, userId, item, retrieval } = turn;
    const known = items.get(itemId);
    if (known === undefined || (known.retrieval === null && retrieval !== null)) {
      items.set(itemId, { itemId, userId, item, retrieval });
      return turn;
    }
    return { ...turn, ...known, retrieval: retrieval === null ? null : known.retrieval };
  };
}
