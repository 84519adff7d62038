import { expect, it } from 'vitest';
import { realEngine } from '../../../../test/fixtures/engines.ts';
import { cellsSelfTest } from './engine-self-tests.ts';

it('joins one block to the bits of the text, wherever header and block end', async () => {
  // These weights are computed in groups of tokens: cut elsewhere, the text has other bits.
  await using engine = await realEngine.open({ model: 'random:small-llama:q4_k', threads: 1, sessions: 2 });
  expect(engine.capabilities.exactCuts).toBeGreaterThan(1);
  const [ids] = await engine.tokenize([
    { text: 'I told you where I live, and that my dog is called Brenko.', as: 'text' },
  ]);
  for (const [header, first] of [
    [8, 3],
    [9, 7],
    [10, 8],
  ] as const) {
    // prettier-ignore
    const lines = [ids!.slice(header, header + first), ids!.slice(header + first, -4)];
    const parts = { header: ids!.slice(0, header), lines, suffix: ids!.slice(-4, -1), continuation: ids!.slice(-1) };
    expect(await cellsSelfTest(engine, parts)).toMatchObject({ oneBlock: { bitwiseEqual: true } });
  }
});
