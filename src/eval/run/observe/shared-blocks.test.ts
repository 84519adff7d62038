import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { openParts, storeIn } from '../../../../scripts/open-parts.ts';
import { folderOfEachTest } from '../../../../test/fixtures/folder-of-each-test.ts';
import { openFakeEngine } from '../../../../test/fixtures/fake-engine/fake-engine.ts';
import { replacing } from '../../../../test/fixtures/replacing.ts';
import { openDatabase } from '../../../store/database.ts';
import { armRegistry } from '../../../systems/arms/arm-registry.ts';
import { SharedBlocks } from './shared-blocks.ts';
import { TurnRecorder } from './turn-recorder.ts';

const folder = folderOfEachTest();
const engine = openFakeEngine();
const session = await engine.openSession('turns');
const database = openDatabase({ path: ':memory:' });
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  database.close();
});

const BLOCK = [61, 62, 63, 64, 65];

/** Two arms that share blocks, and the number of times that one was computed. */
async function twoArms() {
  const blocks = new SharedBlocks(engine);
  let computed = 0;
  const open = async () => {
    const recorder = new TurnRecorder(engine, blocks);
    const parts = recorder.parts(openParts({ engine, session }, database), () => Promise.reject(new Error('no store')));
    const seen = (await parts.open()).session;
    const take = async (userId: string, key: string) => {
      const own = await seen.meter();
      const { value, recorded } = await recorder.turn(() =>
        parts.computeBlock!(userId, key, async () => {
          computed++;
          await seen.clear();
          await seen.evaluate(BLOCK);
          return seen.exportCells({ start: 0, end: BLOCK.length });
        }),
      );
      const { evaluated } = await seen.meter();
      return { ...value, recorded, sessionTokens: evaluated! - own.evaluated! };
    };
    return take;
  };
  return { blocks, first: await open(), second: await open(), computed: () => computed };
}

it('a block is computed once, and the second arm is charged its tokens and its time', async () => {
  const { first, second, computed } = await twoArms();
  const own = await first('ann', 'block');
  const shared = await second('ann', 'block');
  expect(computed()).toBe(1);
  expect([own, shared].map(({ recorded }) => recorded.evaluated)).toEqual([5, 5]);
  expect([own, shared].map(({ sessionTokens }) => sessionTokens)).toEqual([5, 5]);
  expect(own.chargedMs).toBe(0);
  expect(shared.chargedMs).toBeGreaterThan(0);
  expect(shared.recorded.totalMs).toBeGreaterThan(shared.chargedMs);
  expect(shared.recorded.outerMs).toBeGreaterThan(shared.chargedMs);
  expect(shared.state.tokenIds).toEqual(Int32Array.from(BLOCK));
  // A copy would take time of the first arm's turn.
  expect(shared.state).toBe(own.state);
});

it('no block is shared between users, between keys, or after it was cleared', async () => {
  const { blocks, first, second, computed } = await twoArms();
  await first('ann', 'block');
  await second('bob', 'block');
  expect(computed()).toBe(2);
  // A user who comes back finds nothing either.
  await second('ann', 'block');
  expect(computed()).toBe(3);
  await first('ann', 'another block');
  expect(computed()).toBe(4);
  blocks.clear();
  await first('ann', 'block');
  expect(computed()).toBe(5);
});

it('an arm that computes blocks ahead is charged the time of those that another arm has computed', async () => {
  const blocks = new SharedBlocks(engine);
  const slow = replacing(session, {
    evaluate: async (...given) => {
      await setTimeout(20);
      await session.evaluate(...given);
    },
  });
  const parts = { ...openParts({ engine, session: slow }, database), computeBlock: blocks.get.bind(blocks), log: null };
  const names = ['dki-blocks@built=ahead', 'dki-link:2@built=ahead'];
  for (const arm of armRegistry.named(names, { alpha: 1, gatingThreshold: 0 })) {
    const openStore = storeIn(folder.file(arm.traits.name), 2 ** 28);
    await using system = arm.open({ ...parts, openStore });
    await system.prepare!('ann', [{ memoryId: 'm0', content: 'My dog is Brenko.' }]);
    const { trace } = await system.chat({ query: 'Who?', userId: 'ann', sessionId: 's', maxNewTokens: 1 });
    // The header, and the memory behind each of five labels.
    expect(trace.account.ahead!.ms).toBeGreaterThan(6 * 19);
  }
});
