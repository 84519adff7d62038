import { beforeEach, expect, it } from 'vitest';
import { ChatServer, honestJudge, judgedData } from '../../../../test/fixtures/chat-server.ts';
import { type HandmadeTurn, storeRun } from '../../../../test/fixtures/stored-runs.ts';
import { judgeAddress } from '../../../config/normalise-server-addresses.ts';
import { type BenchDatabase, openDatabase } from '../../../store/database.ts';
import { TurnRepository } from '../../../store/turn-repository.ts';
import { Judge, rubricPrompt } from './judge.ts';
import { judgeTurns } from './judge-turns.ts';

let server: ChatServer;
let database: BenchDatabase;
let turns: TurnRepository;
beforeEach(async () => {
  server = await ChatServer.start();
  database = openDatabase({ path: ':memory:' });
  turns = new TurnRepository(database);
  return async () => {
    database.close();
    await server[Symbol.asyncDispose]();
  };
});

/** Stores a run of turns: item, arm, answer and what else there is. */
function store(made: readonly [string, string, string, Partial<HandmadeTurn>?][], name = 'r') {
  const whole = made.map(([itemId, arm, answer, more]) => {
    return { itemId, userId: 'u', arm, answer, right: answer.includes('Turin'), ...more };
  });
  return storeRun(database, { name, turns: whole }).id;
}

const ask = (runId: string, signal = new AbortController().signal) =>
  judgeTurns(new Judge('m', { address: judgeAddress(server.address), pausesMs: [] }, database), turns, runId, {
    signal,
  });

/** The verdict in each turn; undefined where there is none. */
const verdicts = (runId: string, metric = 'judge') =>
  [...turns.listByRun(runId)].map((one) => (one.state === 'answered' ? one.scores.own?.[metric] : undefined));

it('grades each point of an answer once, and gives their mean to turns whose points all have a grade', async () => {
  const nuggets = ['lives in Turin', 'since May', 'with a cat'];
  const runId = store([
    ['a', 'rag', 'In Turin with a cat', { nuggets }],
    ['a', 'dki', 'In Turin with a cat', { nuggets }],
    ['a', 'none', 'Oslo', { nuggets }],
    ['b', 'rag', 'Turin'],
  ]);
  server.answers = (content) => {
    const { point, answer } = judgedData(content);
    if (point === undefined) return honestJudge(content);
    if (answer === 'Oslo') return point === 'since May' ? 'perhaps' : 'no';
    return point === 'since May' ? 'no' : point === 'with a cat' ? 'yes' : 'partly';
  };
  const probe = await ask(runId);
  expect(probe).toMatchObject({ asked: 7, failed: [{ reason: 'neither yes nor no', answers: 1 }], rubricPrompt });
  expect(probe.failed[0]!.first).toBe('judge m: the reply is neither yes, partly nor no');
  expect(verdicts(runId, 'rubric')).toEqual([0.5, 0.5, undefined, undefined]);
  expect(verdicts(runId)).toEqual([undefined, undefined, undefined, 1]);
  expect(await ask(runId)).toMatchObject({ asked: 1, known: 6 });
});

it('puts a verdict into every turn with a gold, and asks about each answer once', async () => {
  const runId = store([
    ['a', 'rag', 'Turin'],
    ['a', 'dki', 'Turin'],
    ['a', 'none', 'Oslo'],
    ['b', 'rag', 'Turin', { gold: null }],
    ['c', 'rag', '', { error: 'no cell left' }],
    ['d', 'rag', 'Bergen', { gold: 'Bergen' }],
  ]);
  const other = store([['a', 'rag', 'Turin']], 'other');
  expect(await ask(runId)).toMatchObject({ model: 'm', asked: 3, known: 0, failed: [] });
  expect(verdicts(runId)).toEqual([1, 1, 0, undefined, undefined, 1]);
  expect(verdicts(other)).toEqual([undefined]);
  expect(await ask(other)).toMatchObject({ asked: 0, known: 1 });
  expect(verdicts(other)).toEqual([1]);
  expect(await ask(runId)).toMatchObject({ asked: 0, known: 3 });
  expect(server.requests).toHaveLength(3);
});

it('counts answers without a verdict by reason, and scores none of them wrong', async () => {
  server.answers = (content) => {
    const { answer } = judgedData(content);
    return answer === 'Oslo' ? 'perhaps' : answer === 'Rome' ? { status: 500, body: '' } : honestJudge(content);
  };
  const runId = store([
    ['a', 'rag', 'Oslo'],
    ['a', 'dki', 'Oslo'],
    ['b', 'rag', 'Turin'],
    ['c', 'rag', 'Rome'],
    ['d', 'rag', 'Bergen'],
  ]);
  const { asked, failed } = await ask(runId);
  expect(asked).toBe(4);
  expect(failed).toEqual([
    { reason: 'neither yes nor no', answers: 2, first: 'judge m: the reply is neither yes nor no' },
    { reason: 'error of the server', answers: 1, first: expect.stringContaining('answered 500') as string },
  ]);
  expect(verdicts(runId)).toEqual([undefined, undefined, 1, undefined, 0]);
  server.answers = honestJudge;
  // Only those that failed are asked again.
  expect(await ask(runId)).toMatchObject({ asked: 2, known: 2, failed: [] });
  expect(verdicts(runId)).toEqual([0, 0, 1, 0, 0]);
});

const many = Array.from({ length: 30 }, (_, i) => [`i${i}`, 'rag', `Turin ${i}`] as [string, string, string]);

it('sends several requests at once, and none after lasting failures', async () => {
  const runId = store(many);
  server.answers = () => ({ status: 401, afterMs: 100 });
  const { asked, failed } = await ask(runId);
  expect(failed).toEqual([{ reason: 'key refused', answers: 30, first: expect.stringContaining('(401)') as string }]);
  expect(asked).toBe(server.requests.length);
  expect(asked).toBeGreaterThanOrEqual(5);
  expect(asked).toBeLessThanOrEqual(8);
  expect(server.mostAtOnce).toBe(4);
  expect(new Set(verdicts(runId))).toEqual(new Set([undefined]));
});

it('continues after failures that do not last', async () => {
  const runId = store(many);
  server.answers = (content) => (server.requests.length <= 10 ? 'perhaps' : honestJudge(content));
  const { failed } = await ask(runId);
  expect(failed.map(({ reason, answers }) => [reason, answers])).toEqual([['neither yes nor no', 10]]);
  expect(verdicts(runId).filter((verdict) => verdict === 1)).toHaveLength(20);
});

it('ends when it is aborted, and resumes from there', async () => {
  const runId = store(many);
  const controller = new AbortController();
  server.answers = (content) => {
    if (server.requests.length <= 12) return honestJudge(content);
    controller.abort(new Error('enough'));
    return { hangs: true };
  };
  await expect(ask(runId, controller.signal)).rejects.toThrow('enough');
  server.answers = honestJudge;
  expect(await ask(runId)).toMatchObject({ asked: 18, known: 12, failed: [] });
  expect(verdicts(runId)).toEqual(many.map(() => 1));
});
