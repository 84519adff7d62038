import { expect, test } from 'vitest';
import { newRun, turnOf, type HandmadeTurn } from '../../../test/fixtures/stored-runs.ts';
import { openDatabase } from '../../store/database.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { UserClaimRepository } from '../../store/user-claim-repository.ts';
import { TurnRepository } from '../../store/turn-repository.ts';
import type { UserShare } from '../../store/records/worker-result-bundle.ts';
import { readRunProgress, turnRate } from './watch-page.ts';

const share = {} as UserShare;
const secret = 'My sister lives in Turin';

function turnsOf(userId: string, errors: readonly number[] = []): HandmadeTurn[] {
  return [0, 1].flatMap((item) =>
    ['rag', 'dki'].map((arm, index) => ({
      ...{ itemId: `${userId}-${item}`, userId, arm, right: arm === 'rag' },
      ...(errors.includes(2 * item + index) ? { error: secret } : {}),
    })),
  );
}

/** A run that is being written, of three users. */
class Writing implements Disposable {
  readonly database = openDatabase({ path: ':memory:' });
  readonly #run = new RunRepository(this.database).create(
    newRun({ name: 'r', turns: ['ann', 'bob', 'eve'].flatMap((user) => turnsOf(user)) }, ['rag', 'dki']),
  );
  readonly users = new UserClaimRepository(this.database, this.#run.id);
  readonly #turns = new TurnRepository(this.database);

  begin(userId: string): void {
    this.users.claim({ userId, position: 0, turns: 4 }, 'w');
  }

  write(turns: readonly HandmadeTurn[]): void {
    for (const turn of turns) this.#turns.put({ runId: this.#run.id, sessionId: 's' }, turnOf(turn));
  }

  whole(userId: string, errors: readonly number[] = []): void {
    this.begin(userId);
    this.write(turnsOf(userId, errors));
    this.users.finish(userId, 'w', share);
  }

  forget(userId: string): void {
    this.#turns.deleteUser(this.#run.id, userId);
    this.users.forget(userId);
  }

  [Symbol.dispose](): void {
    this.database.close();
  }
}

test('counts written turns, and users with all turns written', () => {
  using writing = new Writing();
  const observer = () => readRunProgress(writing.database, 'r');
  expect(observer()).toMatchObject({ turns: 0, ofTurns: 12, users: 0, begun: false, turnsPerSecond: null });
  writing.whole('ann');
  writing.begin('bob');
  writing.write(turnsOf('bob').slice(0, 3));
  expect(observer()).toMatchObject({ turns: 7, users: 1, faults: { errors: 0, latest: [] } });
});

test('reports failed turns, and leaves out deleted ones', () => {
  using writing = new Writing();
  const observer = () => readRunProgress(writing.database, 'r');
  writing.whole('ann');
  writing.begin('bob');
  writing.write(turnsOf('bob', [1]).slice(0, 2));
  const { faults } = observer();
  expect(faults).toMatchObject({ errors: 1, latest: [{ itemId: 'bob-0', arm: 'dki', error: secret }] });
  // A resumed run prompts bob again.
  writing.forget('bob');
  expect(observer()).toMatchObject({ turns: 4, users: 1, faults: { errors: 0, latest: [] } });
});

test('shows no error message if texts are hidden, and names an unknown run', () => {
  using writing = new Writing();
  writing.whole('ann', [3]);
  const [latest] = readRunProgress(writing.database, 'r', () => 'others’').faults.latest;
  expect(latest!.error).toBe('failed');
  expect(() => readRunProgress(writing.database, 'q')).toThrow('there is no run "q"');
});

const now = 1_000_000;
/** Turns of items that end so many seconds before `now`, three arms each. */
const ended = (...seconds: readonly number[]) =>
  seconds.flatMap((ago) => [2, 1, 0].map((ms) => ({ itemId: `i${ago}`, createdAt: now - ago * 1000 - ms })));

test.each([
  ['the turns behind the first item, over the time that they took', [30, 20, 10], 6 / 20],
  ['nothing that was written before the last five minutes', [4000, 20, 10], 3 / 10],
  ['nothing of one item alone', [10], null],
  ['nothing of long ago', [4000, 2000], null],
  ['nothing of no turn', [], null],
])('the rate counts %s', (_, seconds, rate) => {
  expect(turnRate(ended(...seconds), now)).toBe(rate);
});
