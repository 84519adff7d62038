import { expect, it } from 'vitest';
import { describeLlamaServer, llamaServerProgram } from '../fixtures/llama-server-program.ts';
import { presetModels } from '../../src/models/default-models.ts';
import { llamaServer } from '../../src/engine/llama-server/llama-server-adapter.ts';
import { openBlockStore } from '../../src/kv/block-store.ts';
import { KvStore } from '../../src/kv/kv-disk-store.ts';
import { kvOperations } from '../../src/kv/kv-operations.ts';
import { TestFolder } from './bench-fixture.ts';
import { gatherBlocks } from '../../src/systems/prefill/gather-blocks.ts';

const header = [0, 40, 41];
/** Lines that begin alike, as labelled lines do. */
const lines = [
  { memoryId: 'a', tokenIds: [50, 51, 52, 53] },
  { memoryId: 'b', tokenIds: [50, 51, 62, 63] },
  { memoryId: 'c', tokenIds: [50, 71, 72] },
];

describeLlamaServer('blocks on a server that finds what was truncated', () =>
  it('are evaluated to the last token, though their lines begin alike', async () => {
    using folder = new TestFolder();
    const opener = llamaServer.opener({ llamaServer: llamaServerProgram });
    const { model } = presetModels;
    await using engine = await opener.open({ model, contextTokens: 256, sessions: 1, threads: 1 });
    await using session = await engine.openSession('test');
    using store = openBlockStore(await KvStore.open(folder.file('kv'), 2 ** 20, engine), 2 ** 20);
    const context = {
      engine,
      session,
      store,
      kv: kvOperations,
      template: 'plain',
      evict: null,
      keptAs: 'f16',
    } as const;
    const before = await session.meter();
    const { builtTokens } = await gatherBlocks(context, 'ann', { header, lines });
    const after = await session.meter();
    expect(builtTokens).toBe(14);
    expect(after.evaluated! - before.evaluated!).toBe(builtTokens);
  }),
);
