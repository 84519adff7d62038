import { afterEach, beforeEach, expect, it } from 'vitest';
import { openFakeEngine } from '../../../../test/fixtures/fake-engine/fake-engine.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineSession } from '../../../engine/engine-session.ts';
import { FreshCells } from './expected-cells.ts';
import { type Float64Cell, float64Cells } from './float64-cells.ts';

const header = [0, 40, 41];
const first = [50, 51, 52];
const second = [60, 61, 62, 63];

let engine: Engine;
let session: EngineSession;
let fresh: FreshCells;
beforeEach(async () => {
  engine = openFakeEngine({ sessions: 2 });
  session = await engine.openSession('proof');
  fresh = new FreshCells(session);
});
afterEach(() => engine[Symbol.asyncDispose]());

/** Cells that another session gives. */
async function expected(front: readonly number[], tokens: readonly number[]): Promise<Float64Cell[]> {
  await using other = await engine.openSession('other');
  if (front.length > 0) await other.evaluate(front);
  await other.evaluate(tokens);
  return float64Cells(await other.exportCells({ start: front.length, end: front.length + tokens.length }));
}

it('gives the cells of tokens behind others, in any order and after other work in the session', async () => {
  expect(float64Cells(await fresh.behind(header, first))).toEqual(await expected(header, first));
  expect(float64Cells(await fresh.behind([], first))).toEqual(await expected([], first));
  await fresh.use().evaluate([99, 98]);
  expect(float64Cells(await fresh.behind(header, second))).toEqual(await expected(header, second));
  expect(float64Cells(await fresh.behind([], header))).toEqual(await expected([], header));
});

it('evaluates each sequence only once until forget() is called, and a shared prefix only once for consecutive suffixes', async () => {
  await fresh.behind([], header);
  await fresh.behind(header, first);
  await fresh.behind(header, second);
  const evaluated = header.length + first.length + second.length;
  expect(await engine.meter()).toMatchObject({ evaluated });
  await fresh.use().clear();
  await fresh.behind(header, first);
  expect(await engine.meter()).toMatchObject({ evaluated });
  fresh.forget();
  await fresh.behind([], header);
  expect(await engine.meter()).toMatchObject({ evaluated: evaluated + header.length });
});
