import { PassThrough } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { expect, it } from 'vitest';
import { duration, ProgressDisplay, turnsText } from './progress.ts';

it('says the share, the speed of this session and the time left', () => {
  expect(turnsText({ phase: 'turns', done: 60, total: 240 }, 2000, 40)).toBe(
    '██████░░░░░░░░░░░░░░░░░░ 25 % of 240 turns · 10.0 turns/s · 18 s left',
  );
  expect(turnsText({ phase: 'turns', done: 1, total: 240 }, 0, 1)).toBe('░░░░░░░░░░░░░░░░░░░░░░░░ 0 % of 240 turns');
  expect(duration(80_400)).toBe('1 min 20 s');
});

it('writes a line for a phase and for each tenth of the turns where there is no terminal', () => {
  const stream = new PassThrough();
  using display = new ProgressDisplay(stream as unknown as WriteStream);
  for (const done of [0, 1]) display.show({ phase: 'load', done, total: 1 });
  for (let done = 1; done <= 40; done++) display.show({ phase: 'turns', done, total: 40 });
  const lines = String(stream.read()).trimEnd().split('\n');
  expect(lines).toHaveLength(11);
  expect(lines[0]).toBe('loading model, embedder and data');
  expect(lines.slice(1).map((line) => /\d+ %/.exec(line)![0])).toEqual(
    Array.from({ length: 10 }, (_, tenth) => `${(tenth + 1) * 10} %`),
  );
});
