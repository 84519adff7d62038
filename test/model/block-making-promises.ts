import { describe, expect, it } from 'vitest';
import type { ChatResponse } from '../../src/systems/memory-system.ts';
import { blocksOf, type DkiTurns, memoriesOf } from './dki-fixture.ts';

const three = memoriesOf('My dog is called Brenko.', 'My tea is Oolong.', 'I live in a house in Port Dral.');

const originsOf = (response: ChatResponse): string[] => blocksOf(response).blocks.map(({ origin }) => origin);

/** Promises of the settings of blocks, on any engine that gives cells and lets them share positions. */
export function blockMakingPromises(turns: DkiTurns): void {
  describe('@context=previous', () => {
    it('builds a block anew behind another memory, and finds it behind the same', async () => {
      await using system = turns.open('dki-blocks@context=previous');
      const all = await turns.ask(system, three);
      const { header, blocks } = blocksOf(all);
      const [a, b, c] = blocks.map(({ tokens }) => tokens);
      // The first two are evaluated again in front of the second and the third.
      expect(all.trace.account.built).toBe(header.tokens + 2 * a! + 2 * b! + c!);
      const front = await turns.ask(system, three.slice(0, 2));
      expect(front.trace.account).toMatchObject({ cache: 'hit', built: 0 });
      expect(originsOf(await turns.ask(system, [three[0]!, three[2]!]))).toEqual(['memory', 'computed']);
    });

    it('forgets a block with the memory that it saw', async () => {
      await using system = turns.open('dki-blocks@context=previous');
      await turns.ask(system, three);
      // Its own block, and that of the memory behind it.
      expect(await system.forgetMemory('ann', 'm1')).toBe(2);
      expect(originsOf(await turns.ask(system, three))).toEqual(['computed', 'computed', 'memory']);
    });
  });

  describe('@sink', () => {
    it('of more tokens than there are in front of the memories is refused', async () => {
      await using system = turns.open('dki-blocks');
      const { tokens } = blocksOf(await turns.ask(system, three)).header;
      await using all = turns.open(`dki-blocks@context=none@sink=${tokens}`);
      await turns.ask(all, three);
      await using more = turns.open(`dki-blocks@context=none@sink=${tokens + 1}`);
      await expect(turns.ask(more, three)).rejects.toThrow(
        `@sink=${tokens + 1}: the prompt has only ${tokens} tokens before its memories`,
      );
    });

    it('that is dropped fills no cell, and one that is kept so many in front of each block', async () => {
      const accountOf = async (arm: string) => {
        await using system = turns.open(arm);
        const { tokens, trace } = await turns.ask(system, three);
        return { ...trace.account, resident: tokens.kvResident };
      };
      const { resident, positions, built } = await accountOf('dki-blocks');
      // Evaluated once for all blocks.
      expect(await accountOf('dki-blocks@sink=3')).toMatchObject({ resident, positions, built: built + 3 });
      const more = { resident: resident + 9, positions: positions + 9, built: built + 3, sharesPositions: false };
      expect(await accountOf('dki-blocks@sink=3:kept')).toMatchObject(more);
      const shared = { resident: resident + 9, sharesPositions: true };
      expect(await accountOf('dki-parallel@sink=3:kept')).toMatchObject(shared);
    });

    it('that is kept leaves history fewer tokens', async () => {
      const history = Array.from({ length: 60 }, (_, index) => ({
        role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
        content: `This is message ${index} of them.`,
      }));
      const messagesWith = async (arm: string) => {
        await using system = turns.open(arm);
        const { promptInfo, tokens } = await turns.ask(system, three, { history });
        expect(tokens.prompt + tokens.kvResident).toBeLessThanOrEqual(1024 - promptInfo.budget.reserveTokens);
        return promptInfo.historyMessages.length;
      };
      expect(await messagesWith('dki-blocks@sink=12:kept')).toBeLessThan(await messagesWith('dki-blocks@sink=12'));
    });
  });

  it('blocks that saw other tokens never share a key, in one store', async () => {
    const keysOf = async (arm: string): Promise<string[]> => {
      await using system = turns.open(arm, { store: 'shared' });
      return blocksOf(await turns.ask(system, three)).blocks.map(({ key }) => key);
    };
    const [plain, sink] = [await keysOf('dki-blocks'), await keysOf('dki-blocks@sink=2')];
    const previous = await keysOf('dki-blocks@context=previous');
    const keys = [...plain, ...sink, ...previous, ...(await keysOf('dki-blocks@context=none'))];
    expect(new Set(keys).size).toBe(11);
    // The first memory has no other before it.
    expect(previous[0]).toBe(plain[0]);
    // To keep shared tokens or not is a matter of joining.
    expect(await keysOf('dki-blocks@sink=2:kept')).toEqual(sink);
  });

  it('@positions=parallel and a temperature of 1 give the bits of dki-parallel, another temperature does not', async () => {
    for (const arm of ['dki-blocks@positions=parallel', 'dki-parallel@temperature=1'])
      expect(await turns.difference(arm, 'dki-parallel', three)).toBe(0);
    expect(await turns.difference('dki-parallel@temperature=0.5', 'dki-parallel', three)).toBeGreaterThan(0);
  });
}
