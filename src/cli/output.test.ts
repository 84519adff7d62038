import { resolve } from 'node:path';
import type { WriteStream } from 'node:tty';
import { expect, test } from 'vitest';
import { displayPath, terminalPage } from './output.ts';

const terminal = (columns: number) => ({ isTTY: true, columns }) as unknown as WriteStream;
const pipe = { isTTY: false } as unknown as WriteStream;

test.each([
  ['a terminal', terminal(132), {}, { width: 132, colour: true }],
  ['a terminal of unknown width', terminal(0), {}, { width: 80, colour: true }],
  ['a narrow terminal', terminal(7), {}, { width: 40, colour: true }],
  ['a pipe', pipe, {}, { width: 80, colour: false }],
  ['NO_COLOR', terminal(80), { NO_COLOR: '1' }, { width: 80, colour: false }],
  ['an empty NO_COLOR', terminal(80), { NO_COLOR: '' }, { width: 80, colour: true }],
  ['a dumb terminal', terminal(80), { TERM: 'dumb' }, { width: 80, colour: false }],
  ['FORCE_COLOR in a pipe', pipe, { FORCE_COLOR: '1' }, { width: 80, colour: true }],
  ['FORCE_COLOR=0', pipe, { FORCE_COLOR: '0' }, { width: 80, colour: false }],
  ['FORCE_COLOR against NO_COLOR', terminal(80), { FORCE_COLOR: '3', NO_COLOR: '1' }, { width: 80, colour: true }],
])('%s', (_, stream, environment, page) => {
  expect(terminalPage(stream, environment)).toEqual(page);
});

test('shows paths below the working folder relative to it', () => {
  expect(displayPath(resolve('reports/a'))).toBe('reports/a');
  expect(displayPath(resolve('.'))).toBe('.');
  expect(displayPath('/elsewhere')).toBe('/elsewhere');
});
