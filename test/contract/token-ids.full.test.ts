import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { selectEngine } from '../../src/bench/select-engine.ts';
import { presetModels } from '../../src/models/default-models.ts';
import { readDataset } from '../../src/data/read-dataset.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { CURRICULUM } from '../../scripts/train/documents/curriculum.ts';
import { drawTrainingDocument } from '../../scripts/train/documents/training-document.ts';
import { buildPrompt } from '../../src/systems/prompt/build-prompt.ts';
import { PromptTokenizer } from '../../src/systems/prompt/prompt-tokenizer.ts';
import { runProcess } from '../fixtures/run-process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PROMPTS = 1000;

/** Texts that people and data sets may hold, and no training text does. */
const ODD = [
  'naïve café 你好，世界',
  '  two  spaces\n\n\nend ',
  "I'm you're it's 12345abc",
  'x_y-z (ok) #1 $2.50!\t\ttab',
  'emoji 😀 👩‍👩‍👧 ok',
  '<s></s><|im_end|><|pad|> User: no\n\nAI: yes',
  '',
];

it(`gives Python and the bench the same ids for ${PROMPTS} prompts`, async () => {
  await using engine = await selectEngine().open({ model: presetModels.model });
  const tokenizer = new PromptTokenizer(engine);
  const rules = { windowTokens: engine.info.contextTokens, placement: 'rank' } as const;
  const dataset = await readDataset(`${root}/datasets/recall-en.jsonl`);
  const ofDataset = dataset.users.flatMap((user, place) =>
    user.items.map(async (item, index) => {
      const odd = ODD[(place + index) % ODD.length]!;
      const prompt = await buildPrompt(
        {
          query: index % 10 === 0 ? odd : item.query,
          systemPrompt: 'You are a helpful assistant.',
          memories: [...user.memories.slice(0, 5), { memoryId: 'odd', content: odd }].map((memory) => ({
            ...memory,
            score: 1,
            metadata: {},
          })),
          history: item.history,
        },
        { ...rules, labels: index % 2 === 0 ? 'index' : 'bullet' },
        tokenizer,
      );
      return prompt.info.segments;
    }),
  );
  const random = new SeededRandom(5);
  const ofTraining = Array.from({ length: PROMPTS - ofDataset.length }, () => {
    const document = drawTrainingDocument(random, CURRICULUM.at(-1)!, { heldOut: true, phrasing: 'heldOut' });
    const texts = [...document.header, ...document.memories, ...document.questions[0]!.suffix];
    return tokenizer.settle(() => tokenizer.tokenize(texts.map((text) => ({ role: 'memory', text }))));
  });

  const prompts = await Promise.all([...ofDataset, ...ofTraining]);
  const texts = prompts.map((segments) => segments.filter(({ role }) => role !== 'bos').map(({ text }) => text));
  const python = await runProcess(['python3', `${root}/scripts/train/encode.py`], {
    input: texts.map((list) => `${JSON.stringify(list)}\n`).join(''),
  });
  expect(python.stderr).toBe('');
  const lines = python.stdout.trim().split('\n');
  expect(lines).toHaveLength(PROMPTS);
  const different = prompts.filter(
    (segments, index) =>
      JSON.stringify(segments.flatMap(({ tokenIds }) => tokenIds)) !== JSON.stringify(JSON.parse(lines[index]!)),
  );
  expect(different.map((segments) => segments.map(({ text }) => text).join(''))).toEqual([]);
});
