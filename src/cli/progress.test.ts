import { PassThrough } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { expect, it, vi } from 'vitest';
import { durationText } from '../render/format-number.ts';
import { downloadText, estimateLine, phaseText, ProgressDisplay, turnsText } from './progress.ts';

it('says the share, the speed of this session and the time left', () => {
  expect(turnsText({ phase: 'turns', done: 60, total: 240 }, 2000, 40)).toBe(
    '██████░░░░░░░░░░░░░░░░░░ 25 % of 240 turns · 10.0 turns/s · 18 s left',
  );
  expect(turnsText({ phase: 'turns', done: 1, total: 240 }, 0, 1)).toBe('░░░░░░░░░░░░░░░░░░░░░░░░ 0 % of 240 turns');
  expect(durationText(80_400)).toBe('1 min 20 s');
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

it('says what a run will do and how long it takes', () => {
  const estimate = { users: 20, questions: 240, turns: 2640, ms: 3_120_000, smaller: { limit: 60, ms: 780_000 } };
  expect(estimateLine(estimate)).toBe('20 users, 240 questions, 2,640 turns: about 52 min; --limit 60 for 13 min');
  const small = { users: 1, questions: 1, turns: 11, ms: 80_200, smaller: null };
  expect(estimateLine(small)).toBe('1 user, 1 question, 11 turns: about 80 s');
  expect(estimateLine({ ...estimate, ms: 11_350_000, smaller: null })).toMatch(/about 3 h 10 min$/);
  expect(estimateLine({ ...estimate, ms: 10_790_000, smaller: null })).toMatch(/about 3 h$/);
});

it('says how far a download is, in a line for its begin and each tenth where there is no terminal', () => {
  const MiB = 2 ** 20;
  expect(downloadText({ name: 'org/repo/a.gguf', doneBytes: 60 * MiB, totalBytes: 240 * MiB }, 2000, 40 * MiB)).toBe(
    '██████░░░░░░░░░░░░░░░░░░ 25 % of 240.0 MiB · org/repo/a.gguf · 10.0 MiB/s · 18 s left',
  );
  const stream = new PassThrough();
  using display = new ProgressDisplay(stream as unknown as WriteStream);
  for (const name of ['a', 'b']) {
    for (let done = 50; done <= 100; done++) display.showDownload({ name, doneBytes: done, totalBytes: 100 });
  }
  const lines = String(stream.read()).trimEnd().split('\n');
  expect(lines.map((line) => /(\d+) % of 0\.0 MiB · (.)/.exec(line)!.slice(1, 3).join(' '))).toEqual(
    ['a', 'b'].flatMap((name) => [50, 60, 70, 80, 90, 100].map((share) => `${share} ${name}`)),
  );
});

it('shows a download that is longer than it was said to be, or of no length, without an error', () => {
  expect(downloadText({ name: 'a', doneBytes: 5 * 2 ** 20, totalBytes: 2 ** 20 }, 1000, 0)).toBe(
    '████████████████████████ 100 % of 1.0 MiB · a · 5.0 MiB/s · 0 s left',
  );
  for (const totalBytes of [0, Number.NaN, -1]) {
    expect(downloadText({ name: 'a', doneBytes: 1, totalBytes }, 0, 0)).toMatch(/^█{24} 100 % /);
  }
});

it('says the share and the time left of every phase with steps', () => {
  expect(phaseText({ phase: 'isolation', done: 6, total: 24 }, 2000)).toBe(
    '██████░░░░░░░░░░░░░░░░░░ 25 % · testing isolation · 6 s left',
  );
  expect(phaseText({ phase: 'isolation', done: 0, total: 24 }, 2000)).toBe('testing isolation');
  expect(phaseText({ phase: 'analysis', done: 0, total: 1 }, 2000)).toBe('analysing turns and deciding checks');
});

it('writes a line every ten seconds of a long phase where there is no terminal', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const stream = new PassThrough();
    using display = new ProgressDisplay(stream as unknown as WriteStream);
    for (let done = 0; done <= 24; done++) {
      display.show({ phase: 'isolation', done, total: 24 });
      vi.advanceTimersByTime(1000);
    }
    const lines = String(stream.read()).trimEnd().split('\n');
    expect(lines.map((line) => /\d+ %/.exec(line)?.[0])).toEqual([undefined, '41 %', '83 %']);
    expect(lines[1]).toMatch(/ · 14 s left$/);
  } finally {
    vi.useRealTimers();
  }
});
