import fc from 'fast-check';
import { expect, test } from 'vitest';
import { holm } from './holm.ts';

test("agrees with R's p.adjust(c(0.01, 0.04, 0.03, 0.005), 'holm')", () => {
  const expected = [0.03, 0.06, 0.06, 0.02];
  holm([0.01, 0.04, 0.03, 0.005]).forEach((p, index) => expect(p).toBeCloseTo(expected[index]!, 12));
});

test('never lowers a p value, keeps their order and stays within Bonferroni', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }), (ps) => {
      const adjusted = holm(ps);
      ps.forEach((p, i) => {
        expect(adjusted[i]).toBeGreaterThanOrEqual(p);
        expect(adjusted[i]).toBeLessThanOrEqual(Math.min(1, p * ps.length));
        ps.forEach((q, j) => {
          if (p < q) expect(adjusted[i]).toBeLessThanOrEqual(adjusted[j]!);
        });
      });
    }),
  );
});
