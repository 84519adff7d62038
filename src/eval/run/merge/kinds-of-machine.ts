import { isDeepStrictEqual } from 'node:util';
import type { MachineKind } from '../../../store/records/machine-kind.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';

/** A user, and the machine that asked them. */
export interface AskedUser {
  readonly userId: string;
  readonly turns: number;
  readonly environment: RunRecord['environment'];
}

/** The kinds of machine that took the turns of a run, in the order in which the plan meets them. */
export function kindsOfMachine(users: readonly AskedUser[]): readonly MachineKind[] {
  const kinds: { readonly machine: Machine; users: string[]; turns: number }[] = [];
  for (const { userId, turns, environment } of users) {
    const machine = machineOf(environment);
    let kind = kinds.find((known) => isDeepStrictEqual(known.machine, machine));
    if (kind === undefined) kinds.push((kind = { machine, users: [], turns: 0 }));
    kind.users.push(userId);
    kind.turns += turns;
  }
  return kinds.map(({ machine, ...taken }) => ({ ...machine, ...taken }));
}

type Machine = Omit<MachineKind, 'users' | 'turns'>;

function machineOf(environment: RunRecord['environment']): Machine {
  const { platform, cpu, cores, threads, engine, build } = environment;
  return { platform, cpu, cores, threads, ...engineOf({ engine, build }) };
}

/** Records hold the rest of an environment as it was given. */
const engineOf = (given: Readonly<Record<string, unknown>>) => given as Pick<Machine, 'engine' | 'build'>;
