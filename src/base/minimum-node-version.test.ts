import { expect, it } from 'vitest';
import { minimumNodeVersion, requireMinimumNode } from './minimum-node-version.ts';

const [major, minor] = minimumNodeVersion.split('.').map(Number) as [number, number];

it.each([`${major}.${minor}.0`, `${major}.${minor + 10}.1`, `${major + 1}.0.0`, '100.0.0'])(
  'takes Node %s',
  (version) => {
    expect(() => requireMinimumNode(version)).not.toThrow();
  },
);

it.each([`${major}.${minor - 1}.9`, `${major - 2}.20.2`, '9.99.0'])('refuses Node %s', (version) => {
  const message = `this is Node ${version}, and dki-bench needs Node ${minimumNodeVersion} or newer`;
  expect(() => requireMinimumNode(version)).toThrow(message);
});
