import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { composeEngine } from '../../../src/bench/compose.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { nextMessage } from './next-message.ts';

/** As many as a turn of suite `main` evaluates and generates on SmolLM2, on average. */
const PROMPT_TOKENS = 174;
const ANSWER_TOKENS = 20;
/** One engine and all of them are measured in turns, so that a machine that grows slower slows both. */
const WINDOWS = 4;
const WINDOW_MS = 10_000;

/** An engine that is asked without a bench around it. */
export interface BareEngine {
  readonly model: string;
  /** Default: as many as the model's window has. */
  readonly contextTokens?: number;
}

/** Rounds a minute of one engine, and of all of them at once. */
export interface BarePace {
  readonly alone: number;
  readonly together: number;
}

/**
 * The pace of engines without a bench, of one thread and a process each; a round is a prompt evaluated and an answer generated.
 * More workers than one cannot gain more than these, which share the memory and the clock of the cores and nothing else.
 * @throws Error where one of them ends early
 */
export async function barePace(bare: BareEngine, processes: number): Promise<BarePace> {
  const children = Array.from({ length: processes }, () =>
    fork(fileURLToPath(import.meta.url), [JSON.stringify(bare)], { stdio: 'inherit' }),
  );
  const measured = async (some: readonly ChildProcess[]): Promise<number> => {
    const paces = Promise.all(some.map(nextMessage));
    for (const child of some) child.send('begin');
    return (await paces).reduce<number>((sum, pace) => sum + (pace as number), 0);
  };
  try {
    await Promise.all(children.map(nextMessage));
    const pace = { alone: 0, together: 0 };
    for (let window = 0; window < WINDOWS; window++) {
      pace.alone += (await measured(children.slice(0, 1))) / WINDOWS;
      pace.together += (await measured(children)) / WINDOWS;
    }
    return pace;
  } finally {
    for (const child of children) child.kill();
  }
}

async function measure(bare: BareEngine): Promise<void> {
  await using engine = await composeEngine().open({ ...bare, sessions: 1, threads: 1 });
  await using session = await engine.openSession('bare');
  const [text = []] = await engine.tokenize([
    { text: 'a river, a stone and a house '.repeat(PROMPT_TOKENS), as: 'text' },
  ]);
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

if (process.argv[1] === fileURLToPath(import.meta.url)) await measure(JSON.parse(process.argv[2]!) as BareEngine);
