import { expect, test } from 'vitest';
import { diskErrorHint } from './disk-error-hint.ts';

test.each([
  ['ENOSPC', 'free some space'],
  ['EACCES', 'check who may write there'],
  ['EMFILE', 'raise the limit on open files: ulimit -n'],
  ['EOTHER', 'check the path, its permissions and the space there'],
])('where the cause is %s: %s', (code, hint) => {
  expect(diskErrorHint(Object.assign(new Error(), { code }))).toBe(hint);
});
