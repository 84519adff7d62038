import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainResult } from '../../../test/fixtures/plain-result.ts';
import { answeredTurn, failedTurn } from '../../../test/fixtures/turn-record.ts';
import type { TurnResult } from '../records/turn-result.ts';
import { packResults, readPlaces, readValues, writeValues } from './packed-results.ts';
import { resultColumns, valueOf } from './result-columns.ts';
import { fieldOfTurns, unpackResults } from './result-views.ts';

/** Through what a database holds. */
function stored(turns: readonly TurnResult[]): TurnResult[] {
  const { values, places, numbers } = packResults(turns);
  const read = readValues(writeValues(values));
  const bytes = new Uint8Array(places.buffer.slice());
  return unpackResults({ turns: turns.length, values: read, places: readPlaces(bytes, turns.length, read), numbers });
}

/** Without what is not read for results. */
function result(turn: ReturnType<typeof answeredTurn> | ReturnType<typeof failedTurn>): TurnResult {
  if (turn.state === 'failed') return turn;
  const { prompt: _prompt, given, answer, observed, prefill, ...rest } = turn;
  const { nextTokens: _next, goldTokens, ...measured } = observed;
  return {
    ...rest,
    given: { retrieval: given.retrieval },
    answer: { text: answer.text },
    prefill: prefill === null ? null : { sizeBytes: prefill.sizeBytes },
    observed: { ...measured, goldTokens: { length: goldTokens.length } },
  };
}

const base = answeredTurn('dki');
const value = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0),
  fc.constantFrom(0, 1),
);
const turns = fc.record({
  arm: fc.constantFrom('rag', 'dki', 'none'),
  text: fc.string(),
  score: fc.option(value),
  ms: value,
  ownMs: fc.option(value, { nil: undefined }),
  wrongCells: fc.option(fc.option(fc.string()), { nil: undefined }),
  error: fc.option(fc.string(), { nil: undefined }),
});

/** Turns as the values of the property make them. */
const made = fc.array(turns, { minLength: 1, maxLength: 40 }).map((list) =>
  list.map(({ arm, text, score, ms, ownMs, wrongCells, error }) =>
    result(
      error === undefined
        ? answeredTurn(arm, {
            changes: {
              answer: { ...base.answer, text },
              scores: { ...base.scores, tokenF1: score },
              timings: { ...base.timings, firstToken: ms },
              observed: {
                ...base.observed,
                ...(ownMs === undefined ? {} : { ownMs }),
                ...(wrongCells === undefined ? {} : { wrongCells }),
              },
            },
          })
        : failedTurn(arm, error),
    ),
  ),
);

test('turns are what they were, whatever they share, lack, or have alone', () => {
  fc.assert(
    fc.property(made, (list) => {
      expect(stored(list).map(plainResult)).toEqual(list);
    }),
  );
});

test.each(resultColumns)('a list gives $group $field of turns that were packed together, apart, or never', (column) => {
  const lists = fc.tuple(made, made, made);
  const given = fc.property(lists, ([some, others, plain]) => {
    const list = [...stored(some), ...stored(others), ...plain];
    const value = fieldOfTurns(list, column);
    expect(list.map((_turn, place) => value(place))).toEqual(list.map((turn) => valueOf(turn, column)));
  });
  fc.assert(given, { numRuns: 3 });
});

test('numbers that differ stand as they are, and what is equal stands once', () => {
  const some = [1.5, 2.5, 3.5, 4.5].map((firstToken) =>
    result(answeredTurn('rag', { changes: { timings: { ...base.timings, firstToken } } })),
  );
  const { values, places, numbers } = packResults(some);
  expect([...numbers]).toEqual([1.5, 2.5, 3.5, 4.5]);
  expect(places).toHaveLength(0);
  expect(values.filter((column) => column === null)).toHaveLength(1);
});

test.each([2, 300, 70_000])('places of a user with %i different answers are found', (count) => {
  const some = Array.from({ length: count }, (_, index) =>
    result(answeredTurn('rag', { changes: { answer: { ...base.answer, text: `answer ${index}` } } })),
  );
  const texts = stored(some).map((turn) => (turn.state === 'answered' ? turn.answer.text : ''));
  expect(texts.every((text, index) => text === `answer ${index}`)).toBe(true);
});

test('places of another number of turns are refused', () => {
  expect(() => readPlaces(new Uint8Array(5), 2, [['a', 'b']])).toThrow('5 bytes are no places of 2 turns in 1 columns');
});
