import { expect, it } from 'vitest';
import { suites } from '../../src/eval/suites/suites.ts';
import { claims } from '../../src/report/tables/methods-tables.ts';

it('claims are set beside arms that suite methods runs', () => {
  const named = new Set(claims.flatMap(({ measured }) => measured.map(({ arm }) => arm)));
  expect([...named].filter((arm) => !suites.methods.arms.includes(arm))).toEqual([]);
  expect(named.size).toBeGreaterThan(5);
});
