import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bleu, exactMatch, memoryRecall, rougeL, tokenF1 } from './text-overlap.ts';

it.each([
  [' brenko.', ['Brenko'], 1],
  ['brenkos', ['Brenko'], 0],
  ['a nurse', ['teacher', 'nurse'], 1],
  ['', ['Brenko'], 0],
])('compares normal forms and takes the best gold for an exact match: %j of %j is %d', (answer, golds, expected) => {
  expect(exactMatch(answer, golds, 'en')).toBe(expected);
});

it('counts a repeated word once for each time the gold has it in token F1', () => {
  expect(tokenF1('under the blue table', ['under the table'], 'en')).toBeCloseTo(0.8, 12);
  expect(tokenF1('table table table', ['table'], 'en')).toBeCloseTo(0.5, 12);
  expect(tokenF1('它叫布伦科', ['布伦科'], 'zh')).toBeCloseTo(0.75, 12);
});

it('has a token F1 that is symmetric, and 1 exactly where exact match can be', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      expect(tokenF1(a, [b], 'en')).toBe(tokenF1(b, [a], 'en'));
      if (exactMatch(a, [b], 'en') === 1) expect(tokenF1(a, [b], 'en')).toBe(1);
    }),
  );
});

it('recalls the value in a sentence, not in a longer word or another order', () => {
  expect(memoryRecall('I think your dog is called Port Dral, right?', ['Port Dral'], 'en')).toBe(1);
  expect(memoryRecall('Dral Port', ['Port Dral'], 'en')).toBe(0);
});

it('gives the ROUGE-L of Lin 2004, §3.1: order in the sentence counts', () => {
  const reference = ['police killed gunman'];
  // "the" is no token of ours, which raises precision: two of three tokens each way.
  expect(rougeL('police kill the gunman', reference, 'en')).toBeCloseTo(2 / 3, 12);
  expect(rougeL('the gunman kill police', reference, 'en')).toBeCloseTo(1 / 3, 12);
});

it('gives the BLEU of a worked example: precisions 5/6, 3/5, 1/4 and half of 1/3', () => {
  const answer = 'cat sat on mat big one';
  const reference = 'cat sat on mat one day';
  // 1-grams: cat sat on mat one; 2-grams: cat-sat sat-on on-mat; 3-grams: cat-sat-on sat-on-mat; 4-grams: cat-sat-on-mat
  const expected = ((5 / 6) * (3 / 5) * (2 / 4) * (1 / 3)) ** (1 / 4);
  expect(bleu(answer, [reference], 'en')).toBeCloseTo(expected, 12);
  // Without the last match: 4-grams count as half a match of three.
  const broken = 'cat sat on rug big one';
  const smoothed = ((4 / 6) * (2 / 5) * (1 / 4) * (0.5 / 3)) ** (1 / 4);
  expect(bleu(broken, [reference], 'en')).toBeCloseTo(smoothed, 12);
});

it('punishes an answer that is too short, and clips words that are repeated', () => {
  expect(bleu('oak table', ['under oak table there'], 'en')).toBeCloseTo(Math.exp(1 - 4 / 2), 12);
  expect(bleu('oak oak oak', ['oak'], 'en')).toBeCloseTo(((1 / 3) * (0.5 / 2) * (0.25 / 1)) ** (1 / 3), 12);
});

it('reads Chinese by character', () => {
  expect(rougeL('在橡木桌下', ['橡木桌子下面'], 'zh')).toBeCloseTo((2 * 4) / (5 + 6), 12);
  expect(bleu('上海市', ['上海市'], 'zh')).toBe(1);
});

it('gives 1 to the gold itself, 0 to nothing in common, and never leaves 0 to 1', () => {
  const words = fc.array(fc.constantFrom('oak', 'table', 'lamp', '16', 'Brenko'), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(words, words, (a, b) => {
      const [one, other] = [a.join(' '), b.join(' ')];
      for (const metric of [rougeL, bleu]) {
        expect(metric(one, [one], 'en')).toBeCloseTo(1, 12);
        const value = metric(one, [other], 'en');
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1 + 1e-12);
        expect(value === 0).toBe(!a.some((word) => b.includes(word)));
      }
    }),
  );
});
