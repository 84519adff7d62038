import { expect, it, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { suites, suitesNamed } from '../../src/eval/suites/suites.ts';
import { claims } from '../../src/report/topics/methods.ts';
import { armRegistry } from '../../src/systems/arms/arm-registry.ts';

const namesOf = (arms: readonly string[]) =>
  armRegistry.named(arms, { alpha: 1, gatingThreshold: 0.7 }).map(({ traits }) => traits.name);

it('offers on the command line exactly the arms that run', () => {
  expect(namesOf(armRegistry.names)).toEqual(armRegistry.names);
  for (const suite of suitesNamed(['all'])) expect(namesOf(suite.arms)).toEqual(suite.arms);
});

it('lists every arm in one line, or in one document', async () => {
  const printed = async (...words: readonly string[]): Promise<string> => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      await runProgram(['list', 'arms', ...words]);
      return write.mock.calls.map(([text]) => String(text)).join('');
    } finally {
      write.mockRestore();
    }
  };
  const lines = (await printed()).trimEnd().split('\n');
  expect(lines.map((line) => line.split(' ')[0])).toEqual(armRegistry.names);
  expect(lines.find((line) => line.startsWith('dki-cacheblend:'))).toMatch(/\(needs cells, firstLayers\)$/);
  const rows = JSON.parse(await printed('--json')) as readonly { name: string; deployable: boolean }[];
  expect(rows.map(({ name }) => name)).toEqual(armRegistry.names);
  const undeployable = rows.filter(({ deployable }) => !deployable).map(({ name }) => name);
  expect(undeployable).toEqual(['oracle', 'dki-cacheblend-oracle:.3']);
});

it('sets claims beside arms that suite methods runs', () => {
  const named = new Set(claims.flatMap(({ measured }) => measured.map(({ arm }) => arm)));
  expect([...named].filter((arm) => !suites.methods.arms.includes(arm))).toEqual([]);
  expect(named.size).toBeGreaterThan(5);
});
