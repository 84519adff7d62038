import { presetModels } from '../../src/config/models/preset-models.ts';
import type { KvLayout } from '../../src/engine/kv-layout.ts';
import { llamaServer } from '../../src/engine/llama-server/llama-server-adapter.ts';
import type { Rotary } from '../../src/engine/rotary.ts';
import { withOneThread } from '../fixtures/engines.ts';
import { describeLlamaServer, llamaServerProgram } from '../fixtures/llama-server-program.ts';
import { enginePromises } from './engine/promises.ts';
import { ofServer, type Subject } from './engine/subjects.ts';

const subject = (
  model: string,
  shape: Pick<KvLayout, 'layers' | 'heads' | 'headDimension'>,
  rotary: Rotary,
): Subject => ({
  name: `llama-server, ${model}`,
  opener: withOneThread(llamaServer.opener({ llamaServer: llamaServerProgram })),
  model,
  otherModel: 'random:tiny-llama',
  capabilities: ofServer({
    checkpoints: true,
    cells: {
      layout: { ...shape, keyType: 'F16', valueType: 'F16', valuesTransposed: false },
      rotary,
      sharedPositions: true,
      gaps: true,
    },
    missing: {},
  }),
  keyRounding: 2 ** -10,
  readsBack: false,
  ends: 'likeliest',
  tellsIdsLater: true,
});

describeLlamaServer('llama-server, the shipped model', () =>
  enginePromises(
    subject(
      presetModels.model,
      { layers: 8, heads: 2, headDimension: 32 },
      { base: 10_000, scale: 1, pairing: 'norm', dimensions: 32, factors: null },
    ),
  ),
);
