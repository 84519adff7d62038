import { expect, it } from 'vitest';
import { armNames } from '../../src/config/arm-name.ts';
import { loadBenchConfig } from '../../src/config/load-config.ts';
import { armsNamed } from '../../src/eval/run/arms.ts';
import { suitesNamed } from '../../src/eval/suites/suites.ts';

const settings = { alpha: 1, gatingThreshold: 0.7 };

it('offers on the command line exactly the arms that run', () => {
  expect(armsNamed(armNames, settings).map(({ name }) => name)).toEqual(armNames);
  for (const suite of suitesNamed(['all'])) {
    expect(armsNamed(suite.arms, settings).map(({ name }) => name)).toEqual(suite.arms);
  }
});

it('takes any number of link tokens, and names the arms for a name that is none', () => {
  const load = (arms: string) => loadBenchConfig({ flags: { arms }, environment: {} }).arms;
  expect(load('rag,dki-link:16')).toEqual(['rag', 'dki-link:16']);
  expect(armsNamed(['dki-link:16'], settings)).toMatchObject([{ name: 'dki-link:16', claims: 'ids' }]);
  expect(() => load('dki-link:x')).toThrow('--arms: unknown arm "dki-link:x": did you mean dki-link:4?');
});

it('claims bits for dki only while its values are not scaled, and refuses an alpha that nobody would use', () => {
  expect(armsNamed(['dki'], settings)[0]!.claims).toBe('bits');
  expect(armsNamed(['dki'], { ...settings, alpha: 0.5 })[0]!.claims).toBe('ids');
  expect(() => armsNamed(['none', 'rag'], { ...settings, alpha: 0.5 })).toThrow(
    '--alpha 0.5: none of none, rag injects K/V that it could scale',
  );
});
