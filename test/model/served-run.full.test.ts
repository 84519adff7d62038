import { expect, it } from 'vitest';
import { errorLike } from '../fixtures/error-like.ts';
import { fakeOpenAiOpener } from '../fixtures/fake-openai-server/fake-openai-server.ts';
import type { Misbehave } from '../fixtures/fake-server.ts';
import { checkOf, smallRun } from '../fixtures/small-run.ts';
import { failedChecks } from './bench-fixture.ts';

const ARMS = 'none,rag,rag-twin,rag-cached';

/** Turns, and no probe of the engine's opening. */
const isTurn: (request: Parameters<Misbehave>[0]) => boolean = ({ body }) =>
  body['stream'] === true && body['ignore_eos'] === undefined;

/** Says another number of cached tokens in every turn. */
const cachedInTurns =
  (change: (tokens: number) => number): Misbehave =>
  (request) =>
    isTurn(request)
      ? {
          says: (answer) => {
            const usage = answer['usage'] as { prompt_tokens_details: { cached_tokens: number } } | null;
            if (usage === null) return answer;
            const cached_tokens = change(usage.prompt_tokens_details.cached_tokens);
            return { ...answer, usage: { ...usage, prompt_tokens_details: { cached_tokens } } };
          },
        }
      : undefined;

it('of a server with a prefix cache proves what rag-cached found in it, and that rag found nothing', async () => {
  const results = await smallRun(ARMS, { opener: fakeOpenAiOpener() });
  expect(checkOf(results, 'reuse')).toMatchObject({
    status: 'passed',
    evidence: expect.stringMatching(/^18 turns evaluated all that they say, 6 found \d\d+ tokens of earlier/) as string,
  });
  expect(failedChecks(results)).toEqual([]);
  const evaluated = (name: string): number => results.arms.find(({ arm }) => arm === name)!.costAll!.tokens.evaluated;
  expect(evaluated('rag-cached')).toBeLessThan(evaluated('rag'));
  expect(evaluated('rag-twin')).toBe(evaluated('rag'));
});

it.each<[string, (tokens: number) => number]>([
  ['more than its counters', (tokens) => (tokens === 0 ? 0 : tokens + 1)],
  ['less than it found', (tokens) => Math.max(0, tokens - 16)],
])('fails where the server says %s', async (_, change) => {
  const opener = fakeOpenAiOpener({ misbehave: cachedInTurns(change) });
  expect(failedChecks(await smallRun('rag,rag-cached', { opener }))).toContain('reuse');
});

it('ends before a turn is stored where the server reuses what it must not', async () => {
  const opener = fakeOpenAiOpener({ misbehave: cachedInTurns((tokens) => tokens + 16) });
  await expect(smallRun('rag,rag-cached', { opener })).rejects.toMatchObject(errorLike('protocol', 'under a new name'));
});

/** Drops the answers of some turns, by their number from 1. */
const droppedTurns = (isDropped: (turn: number) => boolean): Misbehave => {
  let turn = 0;
  return (request) => (isTurn(request) && isDropped(++turn) ? { breaksBehind: 1 } : undefined);
};

it('loses one answer as one turn: what the others evaluated is known as before', async () => {
  const runWith = (misbehave: Misbehave) =>
    smallRun('none,rag,rag-cached', { opener: fakeOpenAiOpener({ misbehave }) });
  const whole = await runWith(() => undefined);
  const results = await runWith(droppedTurns((turn) => turn === 13));
  expect(failedChecks(results)).toEqual(['errors']);
  expect(checkOf(results, 'errors').evidence).toContain('1 of 18 turns failed');
  expect(results.arms.map(({ n }) => n).sort()).toEqual([5, 6, 6]);
  for (const [index, { n, costAll }] of results.arms.entries()) {
    const { evaluated } = costAll!.tokens;
    if (n === 6) expect(evaluated).toBeCloseTo(whole.arms[index]!.costAll!.tokens.evaluated, 6);
    else expect(evaluated).toBeGreaterThan(0);
  }
});

it('ends where two turns in a row reach no server', async () => {
  const opener = fakeOpenAiOpener({ misbehave: droppedTurns((turn) => turn >= 13) });
  await expect(smallRun('none,rag', { opener })).rejects.toMatchObject({ code: 'unreachable' });
});

it('names KV arms with the reason why a server cannot run them', async () => {
  const why = 'dki, dki-blocks: an OpenAI-compatible server neither exports nor imports KV';
  const run = smallRun('rag,dki,dki-blocks', { opener: fakeOpenAiOpener() });
  await expect(run).rejects.toMatchObject(errorLike('bad-model', why));
});
