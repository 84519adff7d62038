import { expect, it } from 'vitest';
import { judgeAddress, judgeKey } from './judge-address.ts';

it.each([
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/v1/chat/completions'],
  ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080/v1/chat/completions'],
  ['https://api.openai.com/v1', 'https://api.openai.com/v1/chat/completions'],
  ['https://one.example/api/v1/', 'https://one.example/api/v1/chat/completions'],
  ['https://one.example/beta/chat/completions', 'https://one.example/beta/chat/completions'],
])('completes %s', (given, whole) => {
  expect(judgeAddress(given)).toBe(whole);
});

it.each([
  ['ftp://one.example', 'ftp: is no protocol'],
  ['file:///etc/passwd', 'file: is no protocol'],
  ['one.example:80', 'one.example: is no protocol'],
  ['nowhere', 'is no address'],
  ['https://me:secret@one.example', 'holds more than host and path'],
  ['https://one.example/?key=secret', 'holds more than host and path'],
])('refuses %s, and shows no secret', (given, message) => {
  expect(() => judgeAddress(given)).toThrow(`--judge: ${message}`);
  expect(() => judgeAddress(given)).not.toThrow(/secret/);
});

it('takes the key of the judge before the usual one, which no other machine is sent in the clear', () => {
  const both = { DKI_BENCH_JUDGE_KEY: ' own\n', OPENAI_API_KEY: 'usual' };
  const usual = { DKI_BENCH_JUDGE_KEY: ' ', OPENAI_API_KEY: 'usual' };
  const of = (address: string, environment: Readonly<Record<string, string>>) => judgeKey(address, environment);
  expect(of('https://one.example/', both)).toBe('own');
  expect(of('http://one.example/', both)).toBe('own');
  expect(of('https://one.example/', usual)).toBe('usual');
  for (const here of ['http://localhost:1/', 'http://127.0.0.1:1/', 'http://[::1]:1/']) expect(of(here, usual)).toBe('usual'); // prettier-ignore
  for (const other of ['http://one.example/', 'http://127.0.0.1.example/', 'http://10.0.0.1/']) expect(of(other, usual)).toBeUndefined(); // prettier-ignore
  expect(of('https://one.example/', {})).toBeUndefined();
});

it('refuses a key that no header can hold, without showing it', () => {
  const environment = { DKI_BENCH_JUDGE_KEY: 'secret\nx-other: 1' };
  expect(() => judgeKey('https://one.example/', environment)).toThrow('DKI_BENCH_JUDGE_KEY holds what no key can');
  expect(() => judgeKey('https://one.example/', environment)).not.toThrow(/secret/);
});
