import { loadBenchConfig } from '../bench/load-config.ts';
import { BenchError } from '../base/bench-error.ts';
import { QueueStore } from '../store/queue/queue-store.ts';
import { planRun, unitsOf } from '../eval/run/queue/plan-run.ts';
import { hashPlan } from '../eval/run/plan/same-plan.ts';
import { suitesNamed } from '../eval/suites/suites.ts';
import { printable, printableJson } from '../render/printable.ts';
import { armRegistry } from '../systems/arms/arm-registry.ts';
import { composeEngine } from '../bench/compose.ts';
import { openQueue } from './queue-runs.ts';

/** Plans the run that the flags name, stores it in the queue, and prints what was stored. */
export async function planAndStore(flags: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void> {
  const config = loadBenchConfig({ flags, arms: armRegistry });
  const [suite, another] = suitesNamed(config.suite);
  if (another !== undefined) {
    throw new BenchError('bad-option', '--suite names several suites', 'plan one run for each');
  }
  await using connection = openQueue(config);
  // Before a model is loaded: a server that cannot be reached is named at once.
  await using store = await QueueStore.open(connection, { creates: true });
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const name = config.run ?? `${suite!.name}-${time}`;
  const plan = await planRun({ suite: suite!, name }, config, composeEngine, { signal });
  const planId = hashPlan(plan);
  const units = unitsOf(plan);
  const added = await store.plan(planId, plan, units);
  const turns = plan.plan.users.reduce((sum, user) => sum + user.turns, 0);
  if (config.json) {
    const users = plan.plan.users.length;
    process.stdout.write(printableJson({ run: name, planId, users, turns, units: units.length, added }));
    return;
  }
  const lines = [
    `run "${name}": ${plan.plan.users.length} users, ${turns} turns, plan ${planId.slice(0, 12)}`,
    added === units.length
      ? `${added} jobs put into the queue`
      : `planned before; ${added} jobs put into the queue again`,
    `start workers: npx dki-bench worker --queue … --run ${name}`,
  ];
  process.stdout.write(lines.map((line) => `${printable(line)}\n`).join(''));
}
