import { afterAll } from 'vitest';
import { attributionPromises } from './attribution-promises.ts';
import { finishedRun } from './finished-run.ts';

const arms = 'dki dki@alpha=0.5 dki-parallel dki-link:2 dki-blocks@context=previous dki-blocks@sink=2:kept'.split(' ');

const finished = await finishedRun(arms);
afterAll(() => finished[Symbol.asyncDispose]());

attributionPromises(finished, arms, [
  ['dki-parallel', 0],
  ['dki-link:2', 2],
]);
