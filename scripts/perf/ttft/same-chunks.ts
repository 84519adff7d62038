import type { EngineSession } from '../../../src/engine/engine-session.ts';
import type { TokenRange } from '../../../src/engine/token-id.ts';
import { meterDifference } from '../../../src/engine/token-meter.ts';
import { selectTokens } from '../../../src/systems/prefill/select-tokens.ts';
import type { RowSetting, TtftRow } from './rows.ts';
import { startWatch } from './start-watch.ts';
import type { CutPrompt } from './subject.ts';

/** The name of the row that recomputes the first four tokens of each block, and of the one that moves no state for it. */
export const LINK_ROW = 'dki-link:4, cache hit';
export const SAME_CHUNKS_ROW = 'the tokens of dki-link:4 in its chunks, no state moved';

/** The ranges of the prompt that `dki-link:4` evaluates again. */
function chunksOf({ headerTokens, lines }: CutPrompt): readonly TokenRange[] {
  const blocks = lines.map((tokenIds, rank) => ({ tokenIds, rank }));
  const ranges = selectTokens({ by: 'link', tokens: 4 }, blocks);
  return ranges.map(({ start, end }) => ({ start: headerTokens + start, end: headerTokens + end }));
}

/** Puts the prefix back, which the chunks of the last turn cut. */
async function refill(session: EngineSession, { prefix }: CutPrompt, from: number): Promise<void> {
  await session.truncate(from);
  await session.evaluate(prefix.slice(from));
}

/**
 * The evaluations of recomputation, and nothing else: the question behind the whole prefix, then each chunk behind all that precedes
 * it, the last one first, so that cutting the sequence is all that it takes to get there.
 */
export async function sameChunksRow({ engine, subject }: RowSetting): Promise<TtftRow> {
  const session = await engine.openSession('chunks');
  const ask: TtftRow['ask'] = async (turn) => {
    const prompt = await subject.prompt(turn);
    const { prefix, suffix } = prompt;
    const chunks = [...chunksOf(prompt)].reverse();
    await refill(session, prompt, Math.min(chunks.at(-1)?.start ?? prefix.length, session.tokens.length));
    const before = await session.meter();
    const stop = startWatch();
    const { text } = await session.generate(suffix, { maxTokens: 1 });
    for (const { start, end } of chunks) {
      await session.truncate(start);
      await session.evaluate(prefix.slice(start, end));
    }
    const call = stop();
    const { evaluated } = meterDifference(await session.meter(), before);
    return {
      ...{ ttftMs: call.callMs, ...call, kvLoadMs: 0, kvComputeMs: 0, prefillMs: call.callMs, text },
      evaluatedTokens: evaluated ?? Number.NaN,
    };
  };
  await ask(0);
  return { name: SAME_CHUNKS_ROW, exact: false, slow: true, ask };
}
