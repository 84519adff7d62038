import { expect, test } from 'vitest';
import { likeliestTokens } from '../../../src/engine/sequence-score.ts';
import type { Opened } from './opened.ts';
import { filler, type Subject } from './subjects.ts';

export function generationPromises(subject: Subject, opened: Opened): void {
  /** Ids as they were told, those that a server tells later put in. */
  const toldIn = (told: readonly (number | null)[], tokens: readonly number[]): (number | null)[] =>
    told.map((id, index) => (id === -1 && subject.tellsIdsLater === true ? tokens[index]! : id));
  const prompt = (): number[] => [...opened.memories, ...opened.question];
  /** An answer that does not end soon. */
  const sampling = { maxTokens: 24, temperature: subject.warm ?? 3, seed: 3 };

  test('the likeliest token at each step, the same each time', async () => {
    const { session } = opened;
    const { tokens, stop } = await session.generate(prompt(), { maxTokens: 6 });
    await session.clear();
    expect((await session.generate(prompt(), { maxTokens: 6 })).tokens).toEqual(tokens);
    for (let length = 0; length < tokens.length; length++) {
      await session.clear();
      const { next } = await session.score([...prompt(), ...tokens.slice(0, length)], []);
      expect(likeliestTokens(next, 1)[0]!.id).toBe(tokens[length]);
    }
    expect(['end', 'length']).toContain(stop);
  });

  test('the session holds the prompt and what was generated, less the token that was sampled last', async () => {
    const { session } = opened;
    const { tokens, stop } = await session.generate(prompt(), { maxTokens: 3 });
    const evaluated = stop === 'end' ? tokens : tokens.slice(0, -1);
    expect(session.tokens).toEqual([...prompt(), ...evaluated]);
    expect(session.cells).toBe(prompt().length + evaluated.length);
  });

  test('tokens give the text, and times are those of the call', async () => {
    const { engine, session } = opened;
    const start = performance.now();
    const { tokens, text, firstTokenMs, decodeMs, retries } = await session.generate(prompt(), { maxTokens: 8 });
    const elapsedMs = performance.now() - start;
    expect(text).toBe((await engine.detokenize([tokens]))[0]!.trimStart().replace(/\ufffd+$/, ''));
    expect(firstTokenMs).toBeGreaterThan(0);
    expect(decodeMs).toBeGreaterThan(0);
    expect(firstTokenMs + decodeMs).toBeLessThanOrEqual(elapsedMs + 1);
    expect(retries).toEqual([]);
  });

  test('it ends at the limit', async () => {
    const { stop, tokens } = await opened.session.generate(filler(opened.engine, 20), { maxTokens: 1 });
    expect([stop, tokens.length]).toEqual(['length', 1]);
    await expect(opened.session.generate(prompt(), { maxTokens: 0 })).rejects.toThrow('maxTokens is 0');
  });

  test('it ends at an end token, which is none of the answer', async () => {
    const { engine, session } = opened;
    const { ends } = subject;
    const asked = typeof ends === 'object' ? [{ text: ends.asked, as: 'template', first: true } as const] : [];
    const [template] = await engine.tokenize(asked);
    // So hot that each token is about as likely as any other.
    const [start, first, tries, temperature] =
      typeof ends === 'number' ? [filler(engine, 20), ends, 300, 20] : [template ?? prompt(), 0, 1, 0];
    for (let seed = first; seed < first + tries; seed++) {
      await session.clear();
      const seen: (number | null)[] = [];
      const onToken = (id: number | null): number => seen.push(id);
      const { tokens, stop } = await session.generate(start, { maxTokens: 100, temperature, seed, onToken });
      expect(tokens.filter((id) => engine.info.endTokens.includes(id))).toEqual([]);
      if (stop !== 'end') continue;
      expect(toldIn(seen, tokens)).toEqual(tokens.length === 0 ? [null] : tokens);
      expect(session.tokens).toEqual([...start, ...tokens]);
      return;
    }
    throw new Error(`no end in ${tries} answers`);
  });

  test('it ends at a stop text, which is cut off', async () => {
    const { session } = opened;
    const whole = await session.generate(prompt(), sampling);
    const stopText = whole.text.slice(4, 7);
    expect(stopText).toHaveLength(3);
    await session.clear();
    const cut = await session.generate(prompt(), { ...sampling, stopTexts: ['\u0001never', stopText] });
    expect([cut.stop, cut.text]).toEqual([
      'stop-text',
      whole.text.slice(0, whole.text.indexOf(stopText)).replace(/\ufffd+$/, ''),
    ]);
    expect(whole.tokens.slice(0, cut.tokens.length)).toEqual(cut.tokens);
    expect(session.cells).toBe(prompt().length + cut.tokens.length - 1);
  });

  test('each token is told with the text that stays', async () => {
    const { session } = opened;
    const told: [id: number | null, text: string][] = [];
    const onToken = (id: number | null, sofar: string): number => told.push([id, sofar]);
    const { tokens, text } = await session.generate(prompt(), { ...sampling, onToken });
    const ids = told.map(([id]) => id);
    expect(toldIn(ids, tokens)).toEqual(tokens);
    for (const [, sofar] of told) expect(text.startsWith(sofar)).toBe(true);
    expect(told.at(-1)![1]).toBe(text);
  });

  test('above temperature 0 the seed decides', async () => {
    const { session } = opened;
    const sample = async (seed: number): Promise<readonly number[]> => {
      await session.clear();
      const { tokens } = await session.generate(filler(opened.engine, 12), { ...sampling, maxTokens: 12, seed });
      return tokens;
    };
    const one = await sample(1);
    expect(await sample(1)).toEqual(one);
    expect(await sample(2)).not.toEqual(one);
  });

  test('aborted in the middle, it gives what there is, and the session goes on from there', async () => {
    const { session } = opened;
    const controller = new AbortController();
    const whole = await session.generate(prompt(), sampling);
    expect(whole.tokens.length).toBeGreaterThan(5);
    await session.clear();
    let count = 0;
    const onToken = (): void => (++count === 4 ? controller.abort() : undefined);
    const cut = await session.generate(prompt(), { ...sampling, onToken }, { signal: controller.signal });
    expect([cut.stop, cut.tokens]).toEqual(['aborted', whole.tokens.slice(0, 4)]);
    expect(session.tokens).toEqual([...prompt(), ...cut.tokens.slice(0, 3)]);
    const further = await session.score(cut.tokens.slice(2), []).catch((error: unknown) => error);
    expect(further).toMatchObject({ logProbabilities: [] });
  });

  test('aborted before its first token, it gives nothing, and the session is as it was', async () => {
    const { engine, session, memories, question } = opened;
    await session.evaluate(memories);
    const reading = await session.meter();
    const aborted = { tokens: [], text: '', stop: 'aborted' };
    const before = await session.generate(question, { maxTokens: 4 }, { signal: AbortSignal.abort() });
    expect(before).toMatchObject(aborted);
    expect(await session.meter()).toMatchObject({ evaluated: reading.evaluated, decoded: 0 });
    const controller = new AbortController();
    const running = session.generate(filler(engine, 1100), { maxTokens: 4 }, { signal: controller.signal });
    setImmediate(() => controller.abort());
    expect(await running).toMatchObject(aborted);
    expect(session.tokens).toEqual(memories);
  });
}
