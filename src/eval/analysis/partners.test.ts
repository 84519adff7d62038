import { expect, test } from 'vitest';
import { answeredTurn } from '../../../test/fixtures/turn-record.ts';
import type { AnsweredResult } from '../../store/records/turn-result.ts';
import { partnersOf } from './partners.ts';
import { where } from './statistics/sublist.ts';
import { turnsOfArm } from './turns-of-run.ts';

const name = { of: ({ arm, itemId }: AnsweredResult) => `${arm} ${itemId}` };
const turn = (arm: string, itemId: string, repeat = 0) => answeredTurn(arm, { changes: { itemId, repeat } });
const rag = [turn('rag', 'i1'), turn('rag', 'i2'), turn('rag', 'i2', 1)];
const dki = [turn('dki', 'i2', 1), turn('dki', 'i2', 2), turn('dki', 'i1'), turn('dki', 'i3')];

const beside = (turns: readonly AnsweredResult[], others: readonly AnsweredResult[]) => {
  const partners = partnersOf(turns, others);
  const found = turns.map((_turn, index) => partners.at(index));
  const known = partners.known(name);
  expect(turns.map((_turn, index) => known.at(index))).toEqual(found.map((other) => other && name.of(other)));
  return found;
};

test('a turn stands beside that of the same item and repeat, of lists apart and of one run', () => {
  const expected = [rag[2], undefined, rag[0], undefined];
  expect(beside(dki, rag)).toEqual(expected);
  const run = [rag[0]!, dki[0]!, rag[1]!, dki[1]!, dki[2]!, rag[2]!, dki[3]!];
  const ofRun = turnsOfArm(run, 'dki');
  expect(beside(ofRun, turnsOfArm(run, 'rag'))).toEqual(expected);
  const known = where(ofRun, ({ repeat }) => repeat === 1);
  expect(beside(known, turnsOfArm(run, 'rag'))).toEqual([rag[2]]);
  expect(beside(dki, [])).toEqual([undefined, undefined, undefined, undefined]);
});
