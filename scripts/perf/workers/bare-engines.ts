import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { composeEngine } from '../../../src/bench/compose.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { nextMessage } from './paced-run.ts';

/** Means of a turn of suite `main` on SmolLM2. */
const PROMPT_TOKENS = 174;
const ANSWER_TOKENS = 20;
/** One engine and all of them alternate, so that a slowing machine slows down both. */
const WINDOWS = 4;
const WINDOW_MS = 10_000;

interface EngineChoice {
  readonly model: string;
  readonly contextTokens?: number;
}

/**
 * Measures rounds per minute of one engine, and of several at once, of one thread and one process each. A round evaluates a prompt and
 * generates an answer. @throws Error if a process ends early
 */
export async function comparePaces(
  choice: EngineChoice,
  processes: number,
): Promise<{ readonly alone: number; readonly together: number }> {
  const children = Array.from({ length: processes }, () =>
    fork(fileURLToPath(import.meta.url), [JSON.stringify(choice)], { stdio: 'inherit' }),
  );
  const measure = async (some: readonly ChildProcess[]): Promise<number> => {
    const paces = Promise.all(some.map(nextMessage));
    for (const child of some) child.send('begin');
    return (await paces).reduce<number>((sum, pace) => sum + (pace as number), 0);
  };
  try {
    await Promise.all(children.map(nextMessage));
    let [alone, together] = [0, 0];
    for (let window = 0; window < WINDOWS; window++) {
      alone += (await measure(children.slice(0, 1))) / WINDOWS;
      together += (await measure(children)) / WINDOWS;
    }
    return { alone, together };
  } finally {
    for (const child of children) child.kill();
  }
}

/** Answers each message with the pace of an engine in this process. */
async function serve(choice: EngineChoice): Promise<void> {
  await using engine = await composeEngine().open({ ...choice, sessions: 1, threads: 1 });
  await using session = await engine.openSession('bare');
  const words = 'a river, a stone and a house '.repeat(PROMPT_TOKENS);
  const [text = []] = await engine.tokenize([{ text: words, as: 'text' }]);
  const random = new SeededRandom(7);
  const round = async (): Promise<void> => {
    await session.clear();
    const start = random.int(0, text.length - PROMPT_TOKENS);
    await session.generate(text.slice(start, start + PROMPT_TOKENS), { maxTokens: ANSWER_TOKENS });
  };
  await round();
  process.send!('loaded');
  for (;;) {
    await once(process, 'message');
    const start = performance.now();
    let rounds = 0;
    while (performance.now() - start < WINDOW_MS) {
      await round();
      rounds++;
    }
    process.send!((60_000 * rounds) / (performance.now() - start));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await serve(JSON.parse(process.argv[2]!) as EngineChoice);
