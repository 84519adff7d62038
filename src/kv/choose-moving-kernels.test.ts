import { expect, test } from 'vitest';
import { nativeKernels } from '../../test/fixtures/both-kernels.ts';
import { chooseMovingKernels } from './choose-moving-kernels.ts';
import type { MovingKernels } from './moving-kernels.ts';
import { proveMovingKernels } from './prove-moving-kernels.ts';

test('native kernels that were compiled and give the right bits are chosen', () => {
  const { kernels, passedOver } = chooseMovingKernels('');
  expect([kernels.name, passedOver]).toEqual(['native', null]);
  expect(chooseMovingKernels('native').kernels.name).toBe('native');
});

test('those in WebAssembly can be asked for, and the choice says why they are there', () => {
  const { kernels, passedOver } = chooseMovingKernels('wasm');
  expect([kernels.name, passedOver]).toEqual(['wasm', 'DKI_BENCH_KV_KERNELS is wasm']);
});

test('another name is refused', () => {
  expect(() => chooseMovingKernels('fast')).toThrow(
    expect.objectContaining({ code: 'bad-option', hint: 'DKI_BENCH_KV_KERNELS is one of native, wasm' }),
  );
});

test('kernels with another bit are refused', () => {
  const turnedFurther: MovingKernels = {
    ...nativeKernels,
    rotation: (shape) => ({ ...nativeKernels.rotation(shape), unit: 1 + 1e-4 }),
  };
  expect(() => proveMovingKernels(turnedFurther)).toThrow('a rotation of norm F16 keys differs');
  const refusing: MovingKernels = { ...nativeKernels, rotation: () => ({ unit: 1, rotate: () => false }) };
  expect(() => proveMovingKernels(refusing)).toThrow('a rotation refused good keys');
  const packing: MovingKernels = {
    ...nativeKernels,
    spreadRows: (moves, rowBytes) => nativeKernels.spreadRows(moves, rowBytes, rowBytes),
  };
  expect(() => proveMovingKernels(packing)).toThrow('a copy of rows of 3 bytes differs');
  expect(() => proveMovingKernels(nativeKernels)).not.toThrow();
});
