import { selectEngine } from '../../../src/bench/select-engine.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';

// A process that evaluates prompts and generates answers on one thread, without end, and sends the number of rounds so far.

/** Means of a turn of suite `main` on SmolLM2. */
const PROMPT_TOKENS = 174;
const ANSWER_TOKENS = 20;

const choice = JSON.parse(process.argv[2]!) as { readonly model: string; readonly contextTokens?: number };
await using engine = await selectEngine().open({ ...choice, sessions: 1, threads: 1 });
await using session = await engine.openSession('bare');
const [text = []] = await engine.tokenize([
  { text: 'a river, a stone and a house '.repeat(PROMPT_TOKENS), as: 'text' },
]);
const random = new SeededRandom(7);
for (let done = 1; ; done++) {
  await session.clear();
  const start = random.int(0, text.length - PROMPT_TOKENS);
  await session.generate(text.slice(start, start + PROMPT_TOKENS), { maxTokens: ANSWER_TOKENS });
  process.send!({ done });
}
