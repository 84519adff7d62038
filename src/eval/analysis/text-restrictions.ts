import type { RunRecord } from '../../store/records/run-record.ts';

export type WithheldSet = ReturnType<typeof withheldSets>[number];

/** The data sets of a run with texts that may not be redistributed; `fileSha256` is that of the user's own file. */
export function withheldSets({ dataset }: Pick<RunRecord, 'dataset'>) {
  return (dataset.parts ?? [dataset])
    .filter(({ texts }) => texts === 'withheld')
    .map(({ name, sha256, brought }) => ({ name, fileSha256: brought?.sha256 ?? sha256 }));
}

/** True if reports must show hashes in place of texts. */
export function withholdsTexts(run: Pick<RunRecord, 'dataset'>): boolean {
  return withheldSets(run).length > 0;
}

/** True if turns are stored with their texts; `--no-text` stores hashes. */
export function storesTexts({ plan }: Pick<RunRecord, 'plan'>): boolean {
  return plan.settings['text'] !== false;
}
