import { expect, it } from 'vitest';
import { readChatLine } from './chat-loop.ts';

it.each([
  ['Where do I live?', { kind: 'text', text: 'Where do I live?' }],
  ['  //remember me ', { kind: 'text', text: '/remember me' }],
  ['//', { kind: 'text', text: '/' }],
  [' \t', { kind: 'nothing' }],
  ['/quit', { kind: 'quit' }],
])('reads %j', (line, read) => {
  expect(readChatLine(line)).toEqual(read);
});

it.each([
  ['/forgt m1', 'there is no command /forgt: did you mean /forget?'],
  ['/constructor', 'there is no command /constructor'],
  ['/remember', '/remember needs TEXT'],
  ['/forget  ', '/forget needs ID'],
])('refuses %j', (line, message) => {
  expect(() => readChatLine(line)).toThrow(
    expect.objectContaining({ code: 'bad-option', message: expect.stringContaining(message) }),
  );
});
