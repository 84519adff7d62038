import { decided, examples, type Gate } from './gate.ts';

/** Errors are counted and shown; a turn that failed is in no mean. */
export const errors: Gate = ({ failed, answered }) => {
  const total = failed.length + answered.length;
  return failed.length === 0
    ? decided('errors', true, `0 of ${total} turns failed`)
    : decided('errors', false, `${failed.length} of ${total} turns failed: ${examples(failed)}: ${failed[0]!.error}`);
};
