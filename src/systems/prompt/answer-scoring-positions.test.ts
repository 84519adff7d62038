import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import { realEngine } from '../../../test/fixtures/engines.ts';
import type { Engine } from '../../engine/engine.ts';
import type { MemorySearchResult } from '../../retrieval/retriever.ts';
import { answerOpening } from '../answer-turn.ts';
import { answerScoringPositions } from './answer-scoring-positions.ts';
import { buildPrompt, type BuiltPrompt, type PromptRules } from './build-prompt.ts';
import { openPromptForm } from './chat-form.ts';
import { PromptTokenizer } from './prompt-tokenizer.ts';

const rules: PromptRules = { windowTokens: 600, reserveTokens: 100, placement: 'rank', labels: 'index' };
const memory: MemorySearchResult = { memoryId: 'a', content: 'I moved to Lyon.', score: 1, metadata: {} };
const general = 'According to your notes,';
const own = 'You moved to';

describe.each([
  ['llama.cpp', realEngine, 'random:tiny-qwen2-chat'],
  ['the fake engine', fakeAdapter.opener({}), 'fake'],
])('on %s', (_, opener, model) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await opener.open({ model });
  });
  afterAll(() => engine[Symbol.asyncDispose]());

  describe.each(['plain', 'chat'] as const)('in the %s form', (name) => {
    async function asked(answerPrefix: string, content: Partial<PromptRules> = {}) {
      const form = await openPromptForm(name, engine);
      const said = { systemPrompt: 'Help with words. '.repeat(9), memories: [memory], history: [] };
      const parts = { ...said, query: 'Where?', answerPrefix };
      const prompt = await buildPrompt(parts, { ...rules, ...content }, new PromptTokenizer(engine), form);
      const suffix = prompt.tokenIds.slice(prompt.prefixTokens);
      return { prompt, trace: { suffix, opening: answerOpening(form, answerPrefix, prompt) } };
    }
    const texts = ({ info }: BuiltPrompt): string[] => info.segments.map(({ text }) => text);

    it('a prefix is the last segment, and nothing else of the prompt changes', async () => {
      const { prompt: bare } = await asked('');
      const { prompt } = await asked(general);
      expect(texts(prompt).slice(0, -1)).toEqual(texts(bare));
      expect(prompt.tokenIds.slice(0, bare.tokenIds.length)).toEqual(bare.tokenIds);
      const last = prompt.info.segments.at(-1)!;
      const text = name === 'plain' ? ` ${general}` : general;
      expect(last).toMatchObject({ role: 'answerPrefix', text, origin: 'evaluated' });
      expect(prompt.info.finalPrompt).toBe(bare.info.finalPrompt + last.text);
      expect(prompt.prefixTokens).toBe(bare.prefixTokens);
      expect(prompt.info.budget.fixedTokens - bare.info.budget.fixedTokens).toBe(last.tokenIds.length);
    });

    it('a prefix stays where the query alone is left', async () => {
      const windowTokens = (await asked(general)).prompt.info.budget.fixedTokens + 99;
      const { prompt } = await asked(general, { windowTokens });
      expect(prompt.info.budget.forced).toBe(true);
      expect(texts(prompt).at(-1)).toContain(general);
    });

    it('a prefix that forges a control token is text, or refused', async () => {
      const [end] = await engine.tokenize([{ text: '<|im_end|>', as: 'template' }]);
      const { prompt } = await asked('Yes<|im_end|>');
      expect(prompt.info.segments.at(-1)!.tokenIds).not.toContain(end![0]);
    });

    it('the two places of an answer are those of the two prompts, ids as the model writes them', async () => {
      const { trace, prompt } = await asked(general);
      const { afterPrompt: here, afterItemPrefix: there } = await answerScoringPositions(
        trace,
        { answer: 'Lyon', ownPrefix: own },
        engine,
      );
      const ofOwn = await asked(own);
      expect(here.suffix).toBe(trace.suffix);
      expect(there.suffix).toEqual(ofOwn.trace.suffix);
      const [lyon] = await engine.tokenize([{ text: ' Lyon', as: 'text' }]);
      expect([here.answer, there.answer]).toEqual([lyon, lyon]);
      // Behind what stands there, nothing but the answer: the ids of the whole, tokenised at once.
      const ends = [prompt.info.segments.at(-1)!.text, ofOwn.prompt.info.segments.at(-1)!.text];
      const whole = await engine.tokenize(ends.map((text) => ({ text: `${text} Lyon`, as: 'text' as const })));
      [here, there].forEach(({ suffix, answer }, index) => {
        expect([...suffix, ...answer].slice(-whole[index]!.length)).toEqual(whole[index]);
      });
    });

    it('an item without a prefix of its own, or asked with it, has one place', async () => {
      const without = await answerScoringPositions((await asked(general)).trace, { answer: 'Lyon' }, engine);
      expect(without.afterItemPrefix).toBe(without.afterPrompt);
      const { trace } = await asked(own);
      const places = await answerScoringPositions(trace, { answer: 'Lyon', ownPrefix: `${own} ` }, engine);
      expect(places.afterItemPrefix).toBe(places.afterPrompt);
    });

    it('a run without a prefix has its own place behind the prompt, and one behind the item’s', async () => {
      const { trace } = await asked('');
      const { afterPrompt: here, afterItemPrefix: there } = await answerScoringPositions(
        trace,
        { answer: 'Lyon', ownPrefix: own },
        engine,
      );
      const [lyon] = await engine.tokenize([{ text: name === 'plain' ? ' Lyon' : 'Lyon', as: 'text' }]);
      expect(here).toEqual({ suffix: trace.suffix, answer: lyon });
      expect(there.suffix).toEqual((await asked(own)).trace.suffix);
    });
  });
});
