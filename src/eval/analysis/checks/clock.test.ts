import { expect, it } from 'vitest';
import { askedTwice, type Changes, changedTurn, checkInput, line } from '../../../../test/fixtures/check-input.ts';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import type { RunProbes } from '../../../store/records/run-probes.ts';
import { clock } from './clock.ts';

/** Turns of 20 questions, or of so many. */
function turnsOf(arm: string, changes: (item: number) => Changes, count = 20) {
  return Array.from({ length: count }, (_, item) => changedTurn(arm, changes(item), { itemId: `i-${item}` }));
}

function checked(ragMs: number, dkiMs: number, probes: Partial<RunProbes> = {}, turns = 20) {
  const of = (arm: string, ownMs: number) => turnsOf(arm, () => ({ observed: { ownMs } }), turns);
  return clock(checkInput({ answered: [...of('rag', ragMs), ...of('dki', dkiMs)], probes }));
}

it('prints the own time of each arm, and fails for more than a prompt of that length takes', () => {
  expect(line(checked(1, 2.2))).toBe('passed: own time, median: rag 1.00 ms, dki 2.20 ms');
  expect(line(checked(1, 2.3))).toMatch(/^failed: dki spent over 2.2 ms outside of calls/);
  expect(line(checked(3.3, 0.3))).toMatch(/^failed: rag spent over/);
  expect(checked(1, 6.1, {}, 4).status).toBe('undecided');
});

it('allows own time up to a small share of the engine time', () => {
  const of = (engine: number) =>
    turnsOf('rag', () => ({
      observed: { ownMs: 4, watch: { firstToken: engine + 5, total: 16.5, outer: 16.5, retrieval: 0.5, engine } },
      timings: { firstToken: engine + 5.5, assemble: 1, prefill: 11, decode: 4, total: 17 },
    }));
  expect(clock(checkInput({ answered: of(500) })).status).toBe('passed');
  expect(line(clock(checkInput({ answered: of(50) })))).toMatch(/^failed: rag spent over 2.2 ms/);
});

it('allows more for blocks, above all for those that a turn may have computed', () => {
  const blocks = handmadeTraits('dki-blocks', { injects: 'memories', prefill: 'blocks' });
  const of = (cache: 'hit' | 'miss', own: number) => {
    const changes = { observed: { ownMs: own }, account: { cache }, facts: { retrievedMemories: 50 } };
    return clock(checkInput({ arms: [blocks], answered: turnsOf('dki-blocks', () => changes) })).status;
  };
  expect([of('hit', 6.9), of('miss', 14.4)]).toEqual(['passed', 'passed']);
  expect([of('hit', 7.1), of('miss', 14.6)]).toEqual(['failed', 'failed']);
});

it('is undecided on a busy machine and of few turns, unless nine of ten turns are too slow', () => {
  const some = (average: number, slow: number, count = 20) => {
    const answered = turnsOf('rag', (item) => ({ observed: { ownMs: item < slow ? 9 : 1 } }), count);
    return clock(checkInput({ answered, probes: { load: { cores: 2, average } } })).status;
  };
  expect([some(3.1, 12), some(3, 12), some(3.1, 20)]).toEqual(['undecided', 'failed', 'failed']);
  expect([some(0, 12, 19), some(0, 19, 19)]).toEqual(['undecided', 'failed']);
  expect(checked(1, 2, { load: { cores: 2, average: 9 } }).status).toBe('passed');
});

it('fails where an arm worked outside of its turns', () => {
  expect(checked(1, 1, { refusedCalls: { rag: 0, dki: 0 } }).status).toBe('passed');
  const refused = checked(1, 1, { refusedCalls: { rag: 0, dki: 3 } });
  expect(line(refused)).toMatch(/^failed: .*dki \(3 calls\)/);
});

it('is undecided about turns that were not timed', () => {
  expect(clock(checkInput()).status).toBe('undecided');
  expect(clock(checkInput({ answered: askedTwice('dki', { observed: { ownMs: 1 } }) })).status).toBe('passed');
});

/** Times of a turn that agree: .5 ms of retrieval, 16.5 ms of the call. */
const timings = { retrieve: 0.5, assemble: 0.2, gate: 0, kvLoad: 0, kvCompute: 0, prefill: 12, decode: 4, total: 17 };
const watch = { firstToken: 12.25, total: 16.5, outer: 16.51, retrieval: 0.5, engine: 12 };
const agreeing = { ...timings, firstToken: 12.75 };

it.each<[string, Partial<typeof agreeing>, Partial<typeof watch>, RegExp]>([
  ['retrieval left out of the total', { total: 16.5, decode: 3.5 }, {}, /the total is not/],
  ['retrieval left out of the first token', { firstToken: 12.25 }, {}, /the time to first token is not/],
  ['another first token than that of the stopwatch', { firstToken: 9 }, {}, /the time to first token is not/],
  ['a clock that began late', {}, { outer: 21 }, /began late/],
  ['a first token in seconds', { firstToken: 0.51 }, { firstToken: 0.01 }, /before the engine generated it/],
  ['a phase that is left out', { prefill: 9 }, {}, /phases do not sum/],
  ['a prompt that took no time', { assemble: 0 }, {}, /builds a prompt reports no time/],
])('fails for %s', (_, ofTimings, ofWatch, words) => {
  const of = (some: object, other: object) =>
    clock(
      checkInput({
        answered: turnsOf('rag', () => ({
          timings: { ...agreeing, ...some },
          observed: { ownMs: 0.3, watch: { ...watch, ...other } },
        })),
      }),
    );
  expect(line(of({}, {}))).toMatch(/^passed/);
  expect(line(of(ofTimings, ofWatch))).toMatch(new RegExp(`^failed: rag: .*${words.source}`));
});

it('is undecided where stopwatches disagree in some turns on a busy machine', () => {
  const late = (count: number) =>
    turnsOf('rag', (item) => ({
      timings: agreeing,
      observed: { ownMs: 0.3, watch: { ...watch, outer: item < count ? 21 : watch.outer } },
    }));
  const status = (count: number, average: number) =>
    clock(checkInput({ answered: late(count), probes: { load: { cores: 2, average } } })).status;
  expect([status(12, 9), status(12, 1), status(20, 9)]).toEqual(['undecided', 'failed', 'failed']);
});
