import { expect, test } from 'vitest';
import { diskAdvice } from './disk-advice.ts';

test.each([
  ['ENOSPC', 'free some space'],
  ['EACCES', 'check who may write there'],
  ['EMFILE', 'raise the limit on open files: ulimit -n'],
  ['EOTHER', 'check the path, its permissions and the space there'],
])('where the cause is %s: %s', (code, advice) => {
  expect(diskAdvice(Object.assign(new Error(), { code }))).toBe(advice);
});
