import { expect, test } from 'vitest';
import { newRun } from '../../../../test/fixtures/stored-runs.ts';
import { type QueuedPlan, queuedPlan } from '../../../store/records/run-record.ts';
import { hashPlan } from './compare-plans.ts';

const made = newRun({ name: 'r', turns: [], settings: { dataset: ['a.jsonl'] } }, ['rag']);
const users = [{ userId: 'ann', turns: 2 }];
const plan = queuedPlan.parse({ ...made, schemaVersion: 1, plan: { ...made.plan, users } });

/** The same plan with its fields in another order. */
function reversed<Value>(value: Value): Value {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).reverse();
  return Object.fromEntries(fields.map(([key, part]) => [key, reversed(part as unknown)])) as Value;
}

const changed = (change: Partial<QueuedPlan>): string => hashPlan({ ...plan, ...change });

test('the hash does not depend on the order of fields, the name, the machine, or the folder of the data', () => {
  const id = hashPlan(plan);
  expect(id).toMatch(/^[0-9a-f]{64}$/);
  expect(hashPlan(reversed(plan))).toBe(id);
  expect(changed({ name: 'other', environment: { ...plan.environment, cpu: 'Another', cores: 64 } })).toBe(id);
  const settings = { ...plan.plan.settings, dataset: ['elsewhere/a.jsonl'] };
  expect(changed({ plan: { ...plan.plan, settings } })).toBe(id);
});

test.each<[string, Partial<QueuedPlan>]>([
  ['seed', { seed: 8 }],
  ['model', { model: { ...plan.model, sha256: 'another' } }],
  ['data', { dataset: { ...plan.dataset, sha256: 'another' } }],
  ['version', { environment: { ...plan.environment, benchVersion: '9' } }],
  ['number of threads', { environment: { ...plan.environment, threads: 3 } }],
  ['setting', { plan: { ...plan.plan, settings: { ...plan.plan.settings, topK: 6 } } }],
  ['list of users', { plan: { ...plan.plan, users: [{ userId: 'ann', turns: 3 }] } }],
])('the hash differs for another %s', (_, change) => {
  expect(changed(change)).not.toBe(hashPlan(plan));
});
