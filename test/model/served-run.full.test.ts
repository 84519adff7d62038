import { expect, it } from 'vitest';
import { fakeOpenAiOpener } from '../fixtures/fake-openai-server/fake-openai-opener.ts';
import type { Misbehave } from '../fixtures/fake-server/fake-server.ts';
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
  await expect(smallRun('rag,rag-cached', { opener })).rejects.toMatchObject({
    code: 'protocol',
    message: expect.stringContaining('under a name that nobody used before') as string,
  });
});

it('names K/V arms with the reason why a server cannot run them', async () => {
  await expect(smallRun('rag,dki,dki-blocks', { opener: fakeOpenAiOpener() })).rejects.toMatchObject({
    code: 'bad-model',
    message: expect.stringContaining(
      'dki, dki-blocks: an OpenAI-compatible server gives no K/V out and takes none in',
    ) as string,
  });
});
