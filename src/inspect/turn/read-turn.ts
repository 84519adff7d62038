import { BenchError } from '../../config/bench-error.ts';
import type { BenchDatabase } from '../../db/database.ts';
import { InfluenceRepository } from '../../db/influence-repository.ts';
import type { TurnRow } from '../../db/schema.ts';
import { TokenPieceRepository } from '../../db/token-piece-repository.ts';
import { TurnListRepository } from '../../db/turn-list-repository.ts';
import { TurnRepository } from '../../db/turn-repository.ts';
import { unknownQuality } from '../../eval/unknown-quality.ts';
import { runNamed, unknownName } from '../find-run.ts';
import type { Influence } from '../influence-port.ts';
import type { TurnRef } from '../links.ts';
import { type AnsweredTurn, type InspectedTurn, inspectedTurn } from '../stored-turn.ts';

/** A run as its turns are shown with it. */
export interface InspectedRun {
  readonly id: string;
  readonly name: string;
  readonly suite: string;
  readonly model: { readonly name: string; readonly sha256: string };
}

/** All that is shown of a turn. */
export interface TurnModel {
  readonly run: InspectedRun;
  readonly turn: InspectedTurn;
  /** Of the item, with this one: by arm, repeat and number of the turn. */
  readonly siblings: readonly InspectedTurn[];
  /** The arm that hands the same memories over as text; none where it did not run, failed, or is this one. */
  readonly rag: AnsweredTurn | undefined;
  /** The one whose sequence is compared: the arm that was asked for, or `rag`. */
  readonly against: AnsweredTurn | undefined;
  readonly influence: Influence | undefined;
  /** What the tokens of the sequences stand for, by id; none where the run did not record it. */
  readonly pieces: ReadonlyMap<number, string>;
}

/** @throws BenchError `not-found` */
export function inspectedRun(database: BenchDatabase, runName: string): InspectedRun {
  const { id, name, suite, model } = runNamed(database, runName);
  return { id, name, suite, model: model as InspectedRun['model'] };
}

/** The turns of an item, by arm, repeat and number of the turn. @throws BenchError `not-found` where there is none */
export function turnsOfItem(database: BenchDatabase, { id, name }: InspectedRun, item: string): TurnRow[] {
  const rows = [...new TurnRepository(database).listByRun(id, { itemId: item })];
  if (rows.length === 0)
    throw unknownName(`run "${name}" has no item`, item, new TurnListRepository(database).items(id));
  return rows.sort((a, b) => compare(a.arm, b.arm) || a.repeat - b.repeat || a.turn - b.turn);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Reads a turn with what is shown beside it.
 *
 * @param against the arm whose sequence is compared; `rag`, where it ran, if not given
 * @throws BenchError `not-found` for a name that the run does not have, `database` for a row that cannot be read
 */
export function readTurnPage(database: BenchDatabase, ref: TurnRef, against?: string): TurnModel {
  const run = inspectedRun(database, ref.run);
  const rows = turnsOfItem(database, run, ref.item);
  const quality = unknownQuality(run.model);
  const siblings = rows.map((row) => inspectedTurn(row, quality));
  const find = (arm: string): InspectedTurn => {
    const ofArm = siblings.filter((turn) => turn.arm === arm);
    const turn = ofArm.find((one) => one.repeat === ref.repeat && one.turn === ref.turn);
    if (turn !== undefined) return turn;
    if (ofArm.length === 0) {
      throw unknownName(`run "${run.name}" has no arm`, arm, [...new Set(siblings.map((one) => one.arm))]);
    }
    throw new BenchError(
      'not-found',
      `item ${ref.item} has no turn ${ref.turn} of ${arm} in repeat ${ref.repeat}`,
      `it has ${ofArm.map(({ repeat, turn: number }) => `turn ${number} of repeat ${repeat}`).join(', ')}`,
    );
  };
  const turn = find(ref.arm);
  const rag = answeredOther(turn, reference(turn, siblings));
  const compared = against === undefined ? rag : answeredOther(turn, find(against));
  const row = rows.find((one) => one.arm === ref.arm && one.repeat === ref.repeat && one.turn === ref.turn)!;
  return {
    run,
    turn,
    siblings,
    rag,
    against: compared,
    influence: new InfluenceRepository(database).find(row.id),
    pieces: new TokenPieceRepository(database).find(run.model.sha256, tokenIds(turn, compared)),
  };
}

/** `rag` with the same settings, `rag@labels=bullet` for `dki@labels=bullet`, or else `rag`. */
function reference(
  { arm, repeat, turn }: InspectedTurn,
  siblings: readonly InspectedTurn[],
): InspectedTurn | undefined {
  const settings = arm.includes('@') ? arm.slice(arm.indexOf('@')) : '';
  const beside = siblings.filter((one) => one.repeat === repeat && one.turn === turn);
  return beside.find((one) => one.arm === `rag${settings}`) ?? beside.find((one) => one.arm === 'rag');
}

function answeredOther(turn: InspectedTurn, other: InspectedTurn | undefined): AnsweredTurn | undefined {
  return other === undefined || other === turn || other.state === 'failed' ? undefined : other;
}

function* tokenIds(...turns: readonly (InspectedTurn | undefined)[]): Generator<number> {
  for (const turn of turns) {
    if (turn?.state !== 'answered') continue;
    for (const segment of turn.promptInfo.segments) yield* segment.tokenIds;
  }
}

/** Which turn it is, as links name it. */
export function refOf(run: InspectedRun, { itemId, arm, repeat, turn }: InspectedTurn): TurnRef {
  return { run: run.name, item: itemId, arm, repeat, turn };
}
