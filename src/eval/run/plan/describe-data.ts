import type { RunDatasets } from '../../../data/run-datasets.ts';
import { type Dataset, type DatasetUser, evidenceIsKnown } from '../../../data/dataset.ts';
import type { DatasetPart, RunDescription } from '../../../store/records/run-description.ts';
import { drawnDatasets } from './plan-users.ts';

function countBy(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) if (name !== '') counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function itemsOf(users: readonly DatasetUser[]): number {
  return users.reduce((sum, user) => sum + user.items.length, 0);
}

/** Describes the data of a run. @param users those who were drawn, with the items that they ask */
export function describeData(data: RunDatasets, users: readonly DatasetUser[]): RunDescription['dataset'] {
  const { name, sha256, parts } = data;
  const withoutEvidence = users.flatMap(({ items }) => items).filter((item) => !evidenceIsKnown(item)).length;
  return {
    name,
    sha256,
    items: itemsOf(users),
    users: users.length,
    ...(withoutEvidence === 0 ? {} : { withoutEvidence }),
    counts: counts(users),
    ...(parts.length === 1 ? saidOf(parts[0]!) : sharedMetric(parts)),
    ...(parts.length === 1
      ? {}
      : {
          parts: drawnDatasets(data, users).map(({ part, users: own }) => {
            const { language } = part;
            const place = { name: part.name, sha256: part.sha256, language };
            return { ...place, items: itemsOf(own), users: own.length, ...saidOf(part) };
          }),
        }),
  };
}

/** A data set's own statements and its origin. */
function saidOf({
  declared,
  brought,
}: Dataset): Pick<DatasetPart, 'primaryMetric' | 'split' | 'licence' | 'texts' | 'note' | 'brought'> {
  if (brought === undefined) return declared;
  const { notes: _, ...hashes } = brought;
  return { ...declared, brought: hashes };
}

/** The primary metric that all data sets name; a run has one. */
function sharedMetric(parts: RunDatasets['parts']): { readonly primaryMetric?: string } {
  const [name, ...others] = new Set(parts.map(({ declared }) => declared.primaryMetric));
  return name === undefined || others.length > 0 ? {} : { primaryMetric: name };
}

/** Notes on the data that a reader of the run must know: their own notes, and metrics that they do not share. */
export function dataNotes({ parts }: Pick<RunDatasets, 'parts'>): string[] {
  const named = parts.filter(({ declared }) => declared.primaryMetric !== undefined);
  const differ = named.length > 0 && parts.length > 1 && sharedMetric(parts).primaryMetric === undefined;
  return [
    ...parts.flatMap(({ name, declared: { note, texts }, brought }) =>
      [
        ...(note === undefined ? [] : [note]),
        ...(brought?.notes ?? []),
        ...(texts === undefined ? [] : ['reports hold ids, numbers and hashes, and none of its texts']),
      ].map((said) => `${name}: ${said}`),
    ),
    ...parts
      .filter(({ users }) => users.length > 1 && users.every(({ items }) => items.length === 1))
      .map(({ name }) => `${name}: each user asks one question, so that no turn finds KV of an earlier one`),
    ...(differ
      ? [
          `only some of the data sets name a primary metric, or another one (${named
            .map(({ name, declared }) => `${name}: ${declared.primaryMetric!}`)
            .join(', ')}): arms are compared by the default`,
        ]
      : []),
  ];
}

/** Items by kind of user, category and phrasing. */
function counts(users: readonly DatasetUser[]): RunDescription['dataset']['counts'] {
  const items = users.flatMap((user) => user.items.map((item) => ({ user, item })));
  return {
    userKind: countBy(items.map(({ user }) => user.kind ?? '')),
    category: countBy(items.map(({ item }) => item.category)),
    phrasing: countBy(items.map(({ item }) => item.phrasing ?? '')),
  };
}
