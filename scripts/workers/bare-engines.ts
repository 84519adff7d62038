import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { composeEngine } from '../../src/cli/compose.ts';
import { SeededRandom } from '../../src/config/seeded-random.ts';

/** As many as a turn of suite `main` evaluates where it has no cache, and as an answer takes. */
const PROMPT_TOKENS = 140;
const ANSWER_TOKENS = 12;
const MEASURED_MS = 30_000;

/** An engine that is asked without a bench around it. */
export interface BareEngine {
  readonly model: string;
  /** Default: as many as the model's window has. */
  readonly contextTokens?: number;
}

/**
 * Rounds a minute of engines alone, of one thread each, a process each, all at once: a prompt evaluated and an answer generated.
 * More workers than one cannot gain more than these, which share the memory and the clock of the cores and nothing else.
 * @throws Error where one of them ends early
 */
export async function bareRoundsAMinute(bare: BareEngine, processes: number): Promise<number> {
  const children = Array.from({ length: processes }, () =>
    fork(fileURLToPath(import.meta.url), [JSON.stringify(bare)], { stdio: 'inherit' }),
  );
  try {
    // Each says when it has loaded, and then its pace.
    await Promise.all(children.map(nextMessage));
    for (const child of children) child.send('begin');
    const paces = await Promise.all(children.map(nextMessage));
    return paces.reduce<number>((sum, pace) => sum + (pace as number), 0);
  } finally {
    for (const child of children) child.kill();
  }
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('an engine ended before it was measured')));
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  return message;
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
  await once(process, 'message');
  const start = performance.now();
  let rounds = 0;
  while (performance.now() - start < MEASURED_MS) {
    await round();
    rounds++;
  }
  process.send!((60_000 * rounds) / (performance.now() - start));
  process.disconnect();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await measure(JSON.parse(process.argv[2]!) as BareEngine);
