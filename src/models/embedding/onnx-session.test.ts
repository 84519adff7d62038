import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectFailure } from '../../../test/fixtures/bench-failure.ts';
import { presetModels } from '../default-models.ts';
import { onnxRuntimeNames, openOnnxSession } from './onnx-session.ts';

const path = join(presetModels.embedder, 'onnx/model.onnx');
const ids = [0, 300, 301, 302, 1];
const feeds = { input_ids: ids, attention_mask: ids.map(() => 1), token_type_ids: ids.map(() => 0) };

async function hiddenBy(runtime: string): Promise<Float32Array> {
  const session = await openOnnxSession(path, runtime);
  expect(session.runtime).toMatch(new RegExp(`^${runtime} \\d+\\.\\d+\\.\\d+$`));
  const wanted = Object.entries(feeds).filter(([input]) => session.inputs.includes(input));
  const { last_hidden_state: hidden } = await session.run(Object.fromEntries(wanted));
  expect(hidden!.dims).toEqual([1, ids.length, 128]);
  return hidden!.data as Float32Array;
}

describe('runtimes of ONNX models', () => {
  it('agree on the embedder that ships up to rounding, and each with itself to the bit', async () => {
    const [native, web] = await Promise.all(onnxRuntimeNames.map(hiddenBy));
    expect(await hiddenBy('onnxruntime-web')).toEqual(web);
    expect(Math.max(...native!.map((value, i) => Math.abs(value - web![i]!)))).toBeLessThan(1e-5);
    expect(Math.max(...native!.map(Math.abs))).toBeGreaterThan(0.1);
  });

  it('let other work of the process go on between texts, though WebAssembly blocks', async () => {
    const session = await openOnnxSession(path, 'onnxruntime-web');
    let heard = 0;
    const listener = setInterval(() => heard++, 1);
    for (let text = 0; text < 50; text++) {
      await session.run(Object.fromEntries(session.inputs.map((input) => [input, feeds[input as keyof typeof feeds]])));
    }
    clearInterval(listener);
    expect(heard).toBeGreaterThan(5);
  });

  it('are chosen by name, and an unknown name lists them', async () => {
    const hint = 'DKI_BENCH_ONNX_RUNTIME is one of onnxruntime-node, onnxruntime-web';
    await expectFailure(openOnnxSession(path, 'rt'), 'bad-option', "unknown ONNX runtime 'rt'", hint);
  });
});
