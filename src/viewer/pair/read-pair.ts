import { BenchError } from '../../base/bench-error.ts';
import type { BenchDatabase } from '../../store/database.ts';
import type { HiddenTexts } from '../hidden-texts.ts';
import type { TurnRef } from '../links.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { readTurnPage, type TurnModel } from '../turn/read-turn.ts';

/** Two arms on one item: A beside B. */
export interface PairModel {
  readonly run: TurnModel['run'];
  readonly a: AnsweredTurn;
  readonly b: AnsweredTurn;
  /** Arms that gave an answer in this repeat and turn. */
  readonly arms: readonly string[];
  /** Texts of the tokens of both, by id; empty where they were not recorded or are hidden. */
  readonly pieces: ReadonlyMap<number, string>;
}

/**
 * Reads a turn beside that of another arm.
 * @param hidden by default the rule of reports
 * @throws BenchError `not-found` for a name that the run does not have, and where one of them gave no answer; `bad-option` for an
 * arm beside itself
 */
export function readPair(database: BenchDatabase, ref: TurnRef, other: string, hidden?: HiddenTexts): PairModel {
  if (ref.arm === other) throw new BenchError('bad-option', `arm "${other}" is named twice`, 'name two arms');
  const { run, turn, against, siblings, pieces } = readTurnPage(database, ref, other, hidden);
  if (turn.state === 'failed' || against === undefined) {
    const failed = turn.state === 'failed' ? ref.arm : other;
    throw new BenchError('not-found', `${failed} failed on item ${ref.item}`, 'choose an arm that gave an answer');
  }
  const arms = siblings.flatMap((one) =>
    one.state === 'answered' && one.repeat === ref.repeat && one.turn === ref.turn ? one.arm : [],
  );
  return { run, a: turn, b: against, arms, pieces };
}
