import { expect, it } from 'vitest';
import { isNodeNewEnough, leastNode, requireNode } from './node-floor.ts';

it('compares versions by their numbers', () => {
  const [major, minor] = leastNode.split('.').map(Number) as [number, number];
  expect(
    [`${major}.${minor}.0`, `${major}.${minor + 10}.1`, `${major + 1}.0.0`, '100.0.0'].map(isNodeNewEnough),
  ).toEqual([true, true, true, true]);
  expect([`${major}.${minor - 1}.9`, `${major - 2}.20.2`, '9.99.0'].map(isNodeNewEnough)).toEqual([
    false,
    false,
    false,
  ]);
});

it('refuses an older Node, with what brings a newer one', () => {
  expect(() => requireNode()).not.toThrow();
  expect(() => requireNode('20.20.2')).toThrow(`this is Node 20.20.2, and dki-bench needs Node ${leastNode} or newer`);
});
