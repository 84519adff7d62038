import { beforeEach, expect, it } from 'vitest';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import { replacing } from '../../../test/fixtures/replacing.ts';
import type { EngineSession } from '../../engine/engine-session.ts';
import type { BuiltPrompt } from '../prompt/build-prompt.ts';
import { EngineCachePrefill } from './cached-text-prefill.ts';
import type { Prefilled } from './prefill-strategy.ts';

const BLOCK = 4;
const scopes: (string | undefined)[] = [];
let session: EngineSession;
let strategy: EngineCachePrefill;

beforeEach(async () => {
  const engine = await fakeAdapter.opener({}).open({ model: 'fake' });
  const own = await engine.openSession('cache');
  scopes.length = 0;
  session = replacing(own, {
    clear: (options) => {
      scopes.push(options?.cacheScope);
      return own.clear(options);
    },
  });
  strategy = new EngineCachePrefill(BLOCK);
  return () => engine[Symbol.asyncDispose]();
});

const start = [30, 31, 32, 33, 34, 35, 36, 37, 38, 39];

/** A turn: the account of its prefill, the answer evaluated behind it. */
async function turn(tokenIds: readonly number[], userId = 'ann', memoryIds = ['m1']): Promise<Prefilled> {
  const memories = memoryIds.map((memoryId) => ({ memoryId }));
  const prompt = { tokenIds, memories } as unknown as BuiltPrompt;
  const prefilled = await strategy.prefill(prompt, { session, userId, alpha: 1 });
  await session.generate(prefilled.suffix, { maxTokens: 3 });
  await prefilled.keep?.();
  return prefilled;
}

const foundBy = async (...asked: Parameters<typeof turn>) => (await turn(...asked)).account.found?.tokens;

it('sends the whole prompt, and expects whole cached blocks of a common prefix, without the last token', async () => {
  const first = await turn(start);
  expect(first.suffix).toEqual(start);
  expect(first.account).toMatchObject({ cache: 'bypass', resident: 0, found: { tokens: 0, blockTokens: BLOCK } });
  expect(await foundBy([...start.slice(0, 7), 90, 91])).toBe(4);
  expect((await turn(start)).account).toMatchObject({ resident: 8, found: { tokens: 8 } });
  expect(await foundBy(start.slice(0, 8))).toBe(4);
  expect(new Set(scopes).size).toBe(1);
});

it('reuses the tokens of the previous answer as a cached prefix', async () => {
  await turn(start);
  const whole = session.tokens;
  expect(whole.length).toBeGreaterThan(start.length);
  expect(await foundBy([...whole, 90, 91, 92, 93, 94])).toBe(Math.floor(whole.length / BLOCK) * BLOCK);
});

it('keeps users apart', async () => {
  await turn(start);
  expect(await foundBy(start, 'bob')).toBe(0);
  expect(await foundBy(start)).toBe(8);
  expect(new Set(scopes).size).toBe(2);
});

it('changes the cache scope when a memory is forgotten, and returns how many prompts contained it', async () => {
  await turn(start, 'ann', ['m1', 'm2']);
  await turn(start, 'ann', ['m2']);
  expect(await strategy.forget('ann', 'm3')).toBe(0);
  expect(await strategy.forget('bob', 'm2')).toBe(0);
  expect(await foundBy(start, 'ann', [])).toBe(8);
  expect(await strategy.forget('ann', 'm1')).toBe(1);
  expect(await foundBy(start)).toBe(0);
  expect(new Set(scopes).size).toBe(2);
});

it('expects nothing after a failed turn or a reset', async () => {
  await turn(start);
  const failing = { tokenIds: start, memories: [] } as unknown as BuiltPrompt;
  await strategy.prefill(failing, { session, userId: 'ann', alpha: 1 });
  expect(await foundBy(start)).toBe(0);
  expect(await foundBy(start)).toBe(8);
  await strategy.reset();
  expect(await foundBy(start)).toBe(0);
});
