import { expect, it } from 'vitest';
import { textWidth } from '../../render/text-width.ts';
import { attributionSection } from './attribution-section.ts';

it('shows what the answer lost without each memory, the largest as a full bar', () => {
  const memories = [
    { memoryId: 'm1', logProbability: -40.5 },
    { memoryId: 'm2', logProbability: -20.5 },
    { memoryId: 'm3', logProbability: -0.25 },
  ];
  const { heading, lines } = attributionSection({ method: 'blocks', logProbability: -0.5, memories, modelMs: 1 }, 80);
  expect(heading).toBe('Leave-one-out attribution, left out as a block of K/V');
  expect(lines).toEqual([
    'left out        ln p  difference',
    '(none)        −0.500',
    `m1           −40.500     +40.000  ${'█'.repeat(24)}`,
    `m2           −20.500     +20.000  ${'█'.repeat(12)}`,
    'm3            −0.250      −0.250',
  ]);
});

it('stays within the width, whatever a memory is called', () => {
  const memories = [{ memoryId: `用户的记忆\u001b[2J${'x'.repeat(90)}-last`, logProbability: -1 }];
  const { lines } = attributionSection({ method: 'text', logProbability: -2, memories, modelMs: 1 }, 80);
  expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(80);
  expect(lines[2]).toMatch(/x-last {2}/);
  expect(lines[2]).toContain('░'.repeat(24));
});
