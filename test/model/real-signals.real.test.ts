import { expect, it } from 'vitest';
import { selectEngine } from '../../src/bench/select-engine.ts';
import { modelFiles } from '../../src/models/model-file-cache.ts';
import { describeReal, entry } from '../fixtures/real-models.ts';

const MODEL = 'smollm2-135m';
const NOTE = 'I live in Lyon with my sister and her two cats. My dentist is called Dr. Dubois, whom I pay on Mondays. ';

describeReal('a call with a signal, on a real model', [MODEL], () => {
  it('ends within two seconds, and otherwise changes no bit', async () => {
    const model = modelFiles(entry(MODEL))[0]!.path;
    await using engine = await selectEngine().open({ model, threads: 1, contextTokens: 2048 });
    await using session = await engine.openSession('signals');
    const [ids = []] = await engine.tokenize([{ text: NOTE.repeat(60), as: 'text', first: true }]);
    const [prompt, answer] = [ids.slice(0, 300), ids.slice(300, 306)];
    const whole = await session.score(prompt, answer, { distributions: true });
    await session.clear();
    const { signal } = new AbortController();
    expect(await session.score(prompt, answer, { signal, distributions: true })).toEqual(whole);

    await session.clear();
    const controller = new AbortController();
    const reason = new Error('enough');
    const evaluated = session.evaluate(ids.slice(0, 1500), { signal: controller.signal });
    let abortedAt = 0;
    setTimeout(() => {
      abortedAt = performance.now();
      controller.abort(reason);
    }, 1000);
    await expect(evaluated).rejects.toBe(reason);
    expect(performance.now() - abortedAt).toBeLessThan(2000);
    expect(session.cells).toBe(0);
  });
});
