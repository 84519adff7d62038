import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitIntoChunks } from './split-into-chunks.ts';

/** `count` sentences of 20 characters, each with its number. */
const sentences = (count: number, end: string): string =>
  Array.from({ length: count }, (_, i) => `${String(i).padStart(3, '0')}${'x'.repeat(17 - end.length)}${end}`).join('');

/** The most characters with which the second begins where the first ends. */
const repeated = (first: string, second: string): number => {
  for (let length = Math.min(60, second.length); length > 0; length--) {
    if (first.endsWith(second.slice(0, length))) return length;
  }
  return 0;
};

const characters = (text: string): number => [...text].length;

test('keeps a short text whole, and makes no chunk of a blank one', () => {
  // The last has 500 characters, 1,000 units of UTF-16, 2,000 bytes.
  const short = [' My cat is called Miso.\n', '猫'.repeat(500), '😺'.repeat(500)];
  for (const text of short) expect(splitIntoChunks(text)).toEqual([text]);
  for (const text of [' \n\t ', '']) expect(splitIntoChunks(text)).toEqual([]);
});

test('cuts at paragraphs before lines, at sentences before commas, at words before characters', () => {
  const [a, b] = ['a'.repeat(300), 'b'.repeat(300)];
  for (const separator of ['\n\n', '\n', '。', '！', '？', '；', '. ', '! ', '? ', '; ', '，', '、', ', ', ' ']) {
    const chunks = [a + separator.trimEnd(), (a + separator).slice(-50) + b];
    expect(splitIntoChunks(a + separator + b), separator).toEqual(chunks);
  }
  // One coarse separator decides where many finer ones stand.
  const lines = `${'word, '.repeat(60)}\n\n${'word, '.repeat(60)}`;
  expect(splitIntoChunks(lines)[0]).toBe('word, '.repeat(60).trim());
});

test('repeats the last words of a chunk in the next, 50 characters at most', () => {
  const chunks = splitIntoChunks(sentences(60, '。'));
  expect(chunks.map(characters)).toEqual([500, 500, 280]);
  expect(chunks[1]!.startsWith(`023${'x'.repeat(16)}。024`)).toBe(true);
  expect(repeated(chunks[0]!, chunks[1]!)).toBe(40);
  const words = splitIntoChunks(Array.from({ length: 300 }, (_, i) => `word${i}`).join(' '));
  for (const [i, chunk] of words.slice(1).entries()) {
    expect(chunk).toMatch(/^word\d+ /);
    expect(repeated(words[i]!, chunk)).toBeGreaterThan(30);
  }
});

test('cuts a text without any separator between characters, never through one', () => {
  const chunks = splitIntoChunks('😺'.repeat(1_200));
  expect(chunks.map(characters)).toEqual([450, 500, 350]);
  expect(chunks.every((chunk) => !/\p{Surrogate}/u.test(chunk))).toBe(true);
});

test('loses nothing, keeps the order, and holds both limits, whatever the text', () => {
  const part = fc.constantFrom('\n\n', '\n', '。', '，', '. ', ' ', 'a', '词', '😺', 'word ', 'x'.repeat(70), '  ');
  const text = fc.array(part, { minLength: 200, maxLength: 900 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (whole) => {
      const chunks = splitIntoChunks(whole);
      let end = 0;
      for (const chunk of chunks) {
        expect(characters(chunk)).toBeLessThanOrEqual(500);
        // The place of the chunk that reaches furthest back without leaving out anything but white space.
        const from = whole.lastIndexOf(chunk, end);
        const place = from >= 0 && from + chunk.length > end ? from : whole.indexOf(chunk, end);
        expect(place).toBeGreaterThanOrEqual(0);
        expect(whole.slice(end, Math.max(end, place)).trim()).toBe('');
        expect(characters(whole.slice(place, Math.max(place, end)))).toBeLessThanOrEqual(50);
        end = place + chunk.length;
      }
      expect(whole.slice(end).trim()).toBe('');
    }),
    { numRuns: 150, seed: 3 },
  );
});
