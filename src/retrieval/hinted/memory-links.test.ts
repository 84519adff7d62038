import { expect, test } from 'vitest';
import { MemoryLinks } from './memory-links.ts';

test.each([
  ['iPhone repairs are cheap.', false],
  ['Phone repairs are cheap.', false],
  ['A Phone repair is cheap.', true],
])('%j makes "phone" a name: %s', (content, isName) => {
  const links = new MemoryLinks();
  for (const [index, text] of [content, 'My phone is red.', 'His phone is blue.'].entries()) {
    links.add({ memoryId: String(index), content: text, embedding: new Float32Array(1), metadata: {} });
  }
  expect(links.strengths('1').has('2')).toBe(isName);
});
