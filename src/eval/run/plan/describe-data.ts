import { isDeepStrictEqual } from 'node:util';
import type { RunDatasets } from '../../../data/join-datasets.ts';
import { type Dataset, type DatasetUser, evidenceIsKnown } from '../../../data/dataset.ts';
import type { DatasetPart, RunDescription } from '../../../store/records/run-description.ts';
import { drawnDatasets } from './plan-users.ts';

/** @param users the drawn users, with their drawn items */
export function describeData(data: RunDatasets, users: readonly DatasetUser[]): RunDescription['dataset'] {
  const { name, sha256, parts } = data;
  const asked = users.flatMap((user) => user.items.map((item) => ({ user, item })));
  const withoutEvidence = asked.filter(({ item }) => !evidenceIsKnown(item)).length;
  const describeParts = () =>
    drawnDatasets(data, users).map(({ part, users: own }): DatasetPart => {
      const items = own.reduce((sum, user) => sum + user.items.length, 0);
      const { name, sha256, language } = part;
      return { name, sha256, language, items, users: own.length, ...origin(part) };
    });
  return {
    name,
    sha256,
    items: asked.length,
    users: users.length,
    ...(withoutEvidence === 0 ? {} : { withoutEvidence }),
    counts: {
      userKind: countBy(asked.map(({ user }) => user.kind)),
      category: countBy(asked.map(({ item }) => item.category)),
      phrasing: countBy(asked.map(({ item }) => item.phrasing)),
    },
    ...(parts.length === 1 ? origin(parts[0]!) : { ...sharedDeclarations(parts), parts: describeParts() }),
  };
}

function countBy(names: readonly (string | undefined)[]): Readonly<Record<string, number>> {
  const groups = Map.groupBy(names.filter(Boolean), (name) => name!);
  return Object.fromEntries([...groups].map(([name, same]) => [name, same.length]));
}

function origin({ declared, brought }: Dataset) {
  if (brought === undefined) return declared;
  const { notes: _, ...hashes } = brought;
  return { ...declared, brought: hashes };
}

/** The primary metric and the planned contrast that all data sets of a run declare. */
export function sharedDeclarations(
  parts: RunDatasets['parts'],
): Pick<Dataset['declared'], 'primaryMetric' | 'plannedContrast'> {
  const fields = ['primaryMetric', 'plannedContrast'] as const;
  const [first] = parts;
  const shared = fields.filter((field) =>
    parts.every(({ declared }) => isDeepStrictEqual(declared[field], first?.declared[field])),
  );
  const values = shared.map((field) => [field, first?.declared[field]] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}
