import { createHash } from 'node:crypto';
import type { QueuedPlan } from '../../../store/records/queued-plan.ts';
import { decisiveFacts } from '../merge/same-plan.ts';

/** The sha-256 of all that the turns of a plan depend on, in hex: the same for the same facts in any order of their fields. */
export function planIdOf(plan: QueuedPlan): string {
  return createHash('sha256')
    .update(canonical(decisiveFacts(plan)))
    .digest('hex');
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
