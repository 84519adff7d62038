/**
 * Whether llama.cpp answers as PyTorch does, after a stage was exported: `npm run train:parity -- --stage base-final`.
 * The same greedy answers to held-out prompts, and the same token ids of odd strings.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BenchError } from '../../src/config/bench-error.ts';
import { loadBenchConfig } from '../../src/config/load-config.ts';
import { SeededRandom } from '../../src/eval/random.ts';
import { drawQualitySet } from '../../src/eval/synthesis/quality-set.ts';
import { LanguageModel } from '../../src/llm/language-model.ts';
import { runScript, wholeNumber } from '../run-script.ts';
import { oddTexts } from './odd-texts.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const LIMITS = { maxTokens: 48, stopTexts: ['\n'] };

/** What a program of this folder writes for lines of JSON, one line for each. */
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

function equalShare<T>(ours: readonly T[], theirs: readonly T[]): { same: number; of: number } {
  const same = ours.filter((one, index) => JSON.stringify(one) === JSON.stringify(theirs[index])).length;
  return { same, of: ours.length };
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      stage: { type: 'string', default: 'base-final' },
      model: { type: 'string' },
      prompts: { type: 'string', default: '1000' },
      strings: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
      /** The share of prompts that must have the same answer. */
      least: { type: 'string', default: '0.995' },
    },
  });
  const named = values.model ?? (values.stage === 'block-final' ? 'recall-block' : 'recall-base');
  const random = new SeededRandom(wholeNumber('seed', values.seed, 0));
  const count = wholeNumber('prompts', values.prompts, 2);
  const modelPath = loadBenchConfig({ flags: { model: named } }).model;
  await using model = await LanguageModel.load({ modelPath, contextTokens: 2_048, threads: 1, sequences: 1 });

  const texts = oddTexts(random, wholeNumber('strings', values.strings, 1));
  const ids = texts.map((text) => [model.info.bosToken, ...model.tokenizeText(text, { first: true })]);
  const tokens = equalShare(
    ids,
    await python<number[]>(
      'encode.py',
      [],
      texts.map((text) => [text]),
    ),
  );
  console.log(`token ids: the same for ${tokens.same} of ${tokens.of} strings`);

  const prompts = (['en', 'zh'] as const).flatMap((language) =>
    drawQualitySet(random, { language, answerable: count, memories: 8, phrasing: 'known' })
      .slice(0, Math.ceil(count / 2))
      .map(({ prompt }) => prompt),
  );
  const sequence = model.openSequence();
  const answers: string[] = [];
  for (const prompt of prompts) {
    await sequence.clear();
    const all = prompt.flatMap((text, index) => model.tokenizeText(text, { first: index === 0 }));
    answers.push((await sequence.generate([model.info.bosToken!, ...all], LIMITS)).text.trim());
  }
  const theirs = await python<string>('answers.py', [values.stage], prompts);
  const same = equalShare(
    answers,
    theirs.map((text) => text.trim()),
  );
  console.log(`greedy answers: the same for ${same.same} of ${same.of} prompts`);
  if (tokens.same < tokens.of || same.same < Number(values.least) * same.of) process.exitCode = 1;
});
