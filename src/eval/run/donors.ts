import type { DatasetUser } from '../../data/dataset.ts';
import { readDataset } from '../../data/reader.ts';
import type { Language } from '../../base/language.ts';
import { shippedDatasets } from '../../config/shipped-datasets.ts';

/**
 * The users whose memories the negative control may be shown: those of the run, and, for a language that only one of them speaks,
 * those of the data set that ships in it.
 */
export async function donorsFor(users: readonly DatasetUser[]): Promise<readonly DatasetUser[]> {
  const speakers = new Map<Language, number>();
  for (const { languageProfile } of users) {
    speakers.set(languageProfile.language, (speakers.get(languageProfile.language) ?? 0) + 1);
  }
  const alone = [...speakers].filter(([, count]) => count === 1).map(([language]) => language);
  const shipped = shippedDatasets();
  const lent = await Promise.all(alone.map((language) => readDataset(shipped.get(`recall-${language}`)!)));
  return [...users, ...lent.flatMap((dataset) => dataset.users)];
}
