import type { WriteStream } from 'node:tty';
import { expect, it } from 'vitest';
import { pageOf } from './page.ts';

const terminal = (columns: number) => ({ isTTY: true, columns }) as unknown as WriteStream;

it('is as wide as the terminal, and 80 columns where none says its width', () => {
  expect(pageOf(terminal(132), {})).toEqual({ width: 132, colour: true });
  expect(pageOf(terminal(0), {}).width).toBe(80);
  expect(pageOf(terminal(7), {}).width).toBe(40);
  expect(pageOf({ isTTY: false } as unknown as WriteStream, {})).toEqual({ width: 80, colour: false });
});

it('has no colours with NO_COLOR or in a dumb terminal', () => {
  expect(pageOf(terminal(80), { NO_COLOR: '1' }).colour).toBe(false);
  expect(pageOf(terminal(80), { NO_COLOR: '' }).colour).toBe(true);
  expect(pageOf(terminal(80), { TERM: 'dumb' }).colour).toBe(false);
});

it('keeps its colours with FORCE_COLOR, wherever it goes', () => {
  const piped = { isTTY: false } as unknown as WriteStream;
  expect(pageOf(piped, { FORCE_COLOR: '1' })).toEqual({ width: 80, colour: true });
  expect(pageOf(piped, { FORCE_COLOR: '0' }).colour).toBe(false);
  expect(pageOf(terminal(80), { FORCE_COLOR: '3', NO_COLOR: '1' }).colour).toBe(true);
});
