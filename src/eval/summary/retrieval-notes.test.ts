import { expect, test } from 'vitest';
import { turnRow } from '../../../test/fixtures/turn-row.ts';
import type { RetrievalFlag } from '../../memory/retriever.ts';
import { storedTurn, type AnsweredTurn, type StoredScores } from '../stored-turn.ts';
import { retrievalNotes } from './retrieval-notes.ts';

function turn(arm: string, itemId: string, flags: readonly RetrievalFlag[] | null): AnsweredTurn {
  const retrieval = flags === null ? null : { strategy: 'tiered', timingsMs: {}, flags, details: {} };
  const row = turnRow(arm);
  const scores = { ...(row.scores as StoredScores), retrieval };
  return storedTurn({ ...row, itemId, scores }) as AnsweredTurn;
}

test('counts each question once for all arms, and gives the first reason', () => {
  const gone = [{ flag: 'failed', reason: 'redis://x: reading failed' }] as const;
  const turns = [
    turn('none', 'q1', null),
    turn('rag', 'q1', gone),
    turn('dki', 'q1', gone),
    turn('rag', 'q2', [{ flag: 'failed', reason: 'later' }]),
    turn('rag', 'q3', []),
    turn('rag', 'q4', [{ flag: 'cached', reason: 'asked before' }]),
  ];
  expect(retrievalNotes(turns, {})).toEqual([
    'recall failed, and the question was asked without memories: 2 of 4 questions, first because redis://x: reading failed',
    'recall gave an earlier answer again: 1 of 4 questions, first because asked before',
  ]);
});

test('says what a filter would have kept out, where there is one', () => {
  const note = (admitted: number, refused: number, ignored: number) =>
    retrievalNotes([], { wouldBeFiltered: { admitted, refused, ignored } });
  expect(note(3, 1, 6)).toEqual(['the ingress filter would have dropped 7 of 10 memories, 6 of them for being short']);
  expect(note(3, 0, 0)).toEqual([]);
});
