import { expect, it } from 'vitest';
import { kvKey } from './kv-key.ts';

const identity = { stateIdentity: 'm', template: 't', tokenIds: [1, 2] };

it.each([
  ['state identity', { stateIdentity: 'n' }],
  ['template', { template: 'u' }],
  ['tokens', { tokenIds: [1, 3] }],
  ['number of tokens', { tokenIds: [1] }],
])('a key changes with the %s', (_, change) => {
  expect(kvKey({ ...identity, ...change })).not.toBe(kvKey(identity));
  expect(kvKey({ ...identity })).toBe(kvKey(identity));
});
