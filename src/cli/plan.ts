import type { Command } from 'commander';
import { engineNames } from '../bench/compose.ts';
import { addConfigOptions } from './config-options.ts';
import { configOptions } from '../config/config-options.ts';
import { heedingInterrupts } from './heeding-interrupts.ts';

/** Options that say how a run is made here, or how its results are judged and written. */
const OF_MAKING = [
  ...['workers', 'shard', 'resume', 'out', 'db', 'quiet', 'databaseEcho', 'failBelow', 'eventsPort'],
  ...['kvStore', 'judge', 'judgeModel', 'sessions', 'recurrence'],
];

/** Declares `plan`; what plans a run is loaded when its options were understood. */
export function declarePlan(command: Command): void {
  command.description('put the users of a run into a queue on PostgreSQL, for dki-bench worker');
  const keys = configOptions()
    .map(({ key }) => key)
    .filter((key) => !OF_MAKING.includes(key));
  addConfigOptions(command, keys, { engine: engineNames }).action((flags: Readonly<Record<string, unknown>>) =>
    heedingInterrupts(async (signal) => {
      const { planAndStore } = await import('./plan-and-store.ts');
      await planAndStore(flags, signal);
    }),
  );
}
