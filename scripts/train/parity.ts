/**
 * Compares llama.cpp with PyTorch after the export of a stage: `npx tsx scripts/train/parity.ts --stage base-final`. Greedy answers
 * to held-out prompts and token ids of odd strings must be equal.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { BenchError } from '../../src/base/bench-error.ts';
import { loadBenchConfig } from '../../src/bench/load-config.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { drawQualitySet } from './documents/quality-set.ts';
import { selectEngine } from '../../src/bench/select-engine.ts';
import { greedyAnswer } from '../open-parts.ts';
import { readOptions, runScript, wholeNumbers } from '../run-script.ts';
import { grammars } from '../../src/base/english-and-chinese-wordings.ts';
import { drawRelation, USER, drawRelationValue } from '../../src/data/generators/facts-and-relations.ts';
import { statement } from '../../src/data/generators/fact-wording.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a program of this folder on lines of JSON. @returns its output, one line for each */
async function python<T>(program: string, args: readonly string[], lines: readonly unknown[]): Promise<T[]> {
  const child = spawn('/usr/bin/python3', [`scripts/train/${program}`, ...args], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  child.stdin.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const out: T[] = [];
  for await (const line of createInterface({ input: child.stdout })) out.push(JSON.parse(line) as T);
  const [code] = (await ended) as [number | null];
  if (code === 0 && out.length === lines.length) return out;
  throw new BenchError('bad-option', `${program} ended with ${code}`, 'its message stands above');
}

function countEqual<T>(ours: readonly T[], theirs: readonly T[]): number {
  return ours.filter((one, index) => JSON.stringify(one) === JSON.stringify(theirs[index])).length;
}

// prettier-ignore
const PIECES = [
  'naïve', 'café', '你好', '，世界', '  ', '\n', '\t', ' ', "I'm", "you're", '12345', 'x_y-z', '#1', '$2.50!', '😀', '👩‍👩‍👧', '<s>',
  '</s>', '<|im_end|>', '<|pad|>', 'User:', 'AI:', '龘', '１２', 'Ａ', '한국어', 'مرحبا', 'é', '…', '—',
];

/** Strings inside and outside of the training distribution: emoji, markers, odd spaces, mixed languages. */
function oddTexts(random: SeededRandom, count: number): string[] {
  return Array.from({ length: count }, () => {
    const parts = Array.from({ length: random.int(1, 5) }, () => {
      if (random.chance(0.6)) return random.pick(PIECES);
      const relation = drawRelation(random, grammars[random.pick(['en', 'zh'] as const)], 0.5, random.chance(0.5));
      return statement(random, { subject: USER, relation, value: drawRelationValue(random, relation, false) }, 'known');
    });
    return parts.join(random.pick(['', ' ']));
  });
}

await runScript(async () => {
  // `--least` is the least share of prompts with equal answers.
  const defaults = { stage: 'base-final', prompts: '1000', strings: '10000', seed: '1', least: '0.995' };
  const values = readOptions(defaults, ['model']);
  const numbers = wholeNumbers(values, { prompts: 2, strings: 1, seed: 0 });
  const named = values.model ?? (values.stage === 'block-final' ? 'recall-block' : 'recall-base');
  const random = new SeededRandom(numbers.seed);
  const { model } = loadBenchConfig({ flags: { model: named } });
  await using engine = await selectEngine().open({ model, contextTokens: 2_048, threads: 1 });

  const texts = oddTexts(random, numbers.strings);
  const tokenised = await engine.tokenize(texts.map((text) => ({ text, as: 'text', first: true })));
  const ids = tokenised.map((tokens) => [engine.info.bosToken, ...tokens]);
  const lines = texts.map((text) => [text]);
  const sameIds = countEqual(ids, await python<number[]>('encode.py', [], lines));
  console.log(`token ids: the same for ${sameIds} of ${ids.length} strings`);

  const prompts = (['en', 'zh'] as const).flatMap((language) =>
    drawQualitySet(random, { language, answerable: numbers.prompts, memories: 8, phrasing: 'known' })
      .slice(0, Math.ceil(numbers.prompts / 2))
      .map(({ prompt }) => prompt),
  );
  const session = await engine.openSession('parity');
  const answers: string[] = [];
  for (const prompt of prompts) answers.push((await greedyAnswer({ engine, session }, prompt)).trim());
  const theirs = await python<string>('answers.py', [values.stage], prompts);
  const trimmed = theirs.map((text) => text.trim());
  const same = countEqual(answers, trimmed);
  console.log(`greedy answers: the same for ${same} of ${answers.length} prompts`);
  if (sameIds < ids.length || same < Number(values.least) * answers.length) process.exitCode = 1;
});
