import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { replacing } from '../fixtures/replacing.ts';
import { askedTurns, type OtherParts, TurnsAtOnce } from '../fixtures/turns-at-once.ts';

const at = await TurnsAtOnce.open();
afterAll(() => at[Symbol.asyncDispose]());

const [first, , , second] = askedTurns;

/** Every file of all stores and of the engine's checkpoints, with its size and the time of its last change. */
function files(): string[] {
  return readdirSync(at.folder, { recursive: true, encoding: 'utf8' })
    .map((name) => ({ name, stats: statSync(join(at.folder, name)) }))
    .filter(({ stats }) => stats.isFile())
    .map(({ name, stats }) => `${name} ${stats.size} ${stats.mtimeMs}`)
    .sort();
}

/** The files at the call, at the first token and when the turn has ended. */
async function filesOf(mode: string, parts: OtherParts = {}): Promise<Record<'call' | 'firstToken' | 'end', string[]>> {
  const session = parts.session ?? at.sessions[0]!;
  let firstToken: string[] | undefined;
  const seen = replacing(session, {
    generate: (suffix, limits, options) =>
      session.generate(suffix, { ...limits, onToken: () => (firstToken ??= files()) }, options),
  });
  await using system = at.system(mode, { ...parts, session: seen });
  // Opens its store, and leaves blocks that memory has to give up for the next.
  await system.chat(second!);
  firstToken = undefined;
  const call = files();
  await system.chat(first!);
  return { call, firstToken: firstToken!, end: files() };
}

const prefixes = ['dki', 'dki@alpha=0.5', 'dki-resident', 'dki-resident@alpha=0.5', 'dki-gated'];
const joined = ['dki-blocks', 'dki-blocks@alpha=0.5', 'dki-parallel', 'dki-link:2', 'dki-random:.5'];

describe('a cache miss writes nothing before its first token, and its KV after that', () => {
  it.each([...prefixes, ...joined])('%s', async (mode) => {
    const { call, firstToken, end } = await filesOf(mode);
    expect(firstToken).toEqual(call);
    expect(end.length).toBeGreaterThan(call.length);
  });

  it.each(joined)('%s, with a memory that is too small for the blocks of a turn', async (mode) => {
    const { call, firstToken, end } = await filesOf(mode, { maxBytes: 2 ** 14, diskTiming: 'when-evicted' });
    expect(firstToken).toEqual(call);
    expect(end).not.toEqual(call);
  });
});
