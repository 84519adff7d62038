import { expect, test } from 'vitest';
import { allFinite } from './finite-numbers.ts';

const halves = (...bits: number[]): Uint8Array => new Uint8Array(Uint16Array.from(bits).buffer);
const singles = (...numbers: number[]): Uint8Array => new Uint8Array(Float32Array.from(numbers).buffer);

test('half precision: every finite number passes, every other bit pattern fails', () => {
  const mistaken = Array.from({ length: 2 ** 16 }, (_, bits) => bits).filter((bits) => {
    const finite = (bits & 0x7c00) !== 0x7c00;
    return allFinite(halves(bits, 0x3c00), 'F16') !== finite || allFinite(halves(0xbbff, bits), 'F16') !== finite;
  });
  expect(mistaken).toEqual([]);
});

test('single precision: finite numbers pass, others fail', () => {
  expect(allFinite(singles(0, -0, 1e-45, 3.4e38, -3.4e38, 65_504), 'F32')).toBe(true);
  for (const number of [NaN, Infinity, -Infinity]) expect(allFinite(singles(1, number), 'F32')).toBe(false);
});

test.each([
  [0x7bff, true],
  [0x7c00, false],
  [0xfc00, false],
  [0x7e00, false],
])('the last of an odd number of half-precision numbers counts: %i', (bits, finite) => {
  expect([allFinite(halves(0, 0, bits), 'F16'), allFinite(halves(bits), 'F16')]).toEqual([finite, finite]);
});

test('a number that is not finite is detected at any index', () => {
  const bytes = new Uint8Array(4002);
  expect(allFinite(bytes.subarray(2), 'F16')).toBe(true);
  for (const at of [0, 2, 1998, 3996, 3998]) {
    bytes.set([0x00, 0x7c], at + 2);
    expect(allFinite(bytes.subarray(2), 'F16')).toBe(false);
    bytes.set([0, 0], at + 2);
  }
});
