import { type Check, decided, examples } from './check.ts';

/** Errors: no turn failed, and none was tried again. Means leave failed turns out. */
export const errors: Check = ({ failed, answered }) => {
  const total = failed.length + answered.length;
  const again = answered.filter(({ observed }) => (observed.tries ?? 1) > 1);
  if (again.length > 0) {
    return decided('errors', false, `${again.length} turns were tried more than once: ${examples(again)}`);
  }
  const [first] = failed;
  if (first === undefined) return decided('errors', true, `0 of ${total} turns failed`, `1 turn of ${total}`);
  const evidence = `${failed.length} of ${total} turns failed: ${examples(failed)}: ${first.error.message}`;
  return decided('errors', false, evidence);
};
