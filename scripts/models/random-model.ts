/** Writes models with random weights, where `--model random:SHAPE` finds them: `tsx scripts/models/random-model.ts tiny-llama`. */
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { BenchError } from '../../src/base/bench-error.ts';
import { modelShapes } from '../../src/engine/gguf/random-model/model-shapes.ts';
import { modelPathOf } from '../../src/engine/gguf/random-model/random-model.ts';
import { runScript } from '../run-script.ts';

await runScript(async () => {
  const { positionals } = parseArgs({ allowPositionals: true });
  if (positionals.length === 0) {
    throw new BenchError('bad-option', 'no shape was named', `known: ${Object.keys(modelShapes).join(', ')}`);
  }
  for (const shape of positionals) {
    const path = await modelPathOf(`random:${shape}`);
    console.log(`${path}: ${statSync(path).size} bytes`);
  }
});
