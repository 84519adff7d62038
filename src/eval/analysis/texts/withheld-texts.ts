import type { RunRecord } from '../../../store/records/run-record.ts';

/** A data set whose texts stand in no report. */
export interface WithheldSet {
  readonly name: string;
  /** Of the bytes of the reader's own file. */
  readonly fileSha256: string;
}

/** The data sets of a run whose texts are others': reports hold hashes in their place. */
export function withheldSets({ dataset }: Pick<RunRecord, 'dataset'>): WithheldSet[] {
  return (dataset.parts ?? [dataset])
    .filter(({ texts }) => texts === 'withheld')
    .map(({ name, sha256, brought }) => ({ name, fileSha256: brought?.sha256 ?? sha256 }));
}

/** True for a run whose turns are stored with their texts; `--no-text` stores hashes in their place. */
export function storesTexts({ plan }: Pick<RunRecord, 'plan'>): boolean {
  return plan.settings['text'] !== false;
}

/** True where no text of the run's turns may stand in a report. */
export function withholdsTexts(run: Pick<RunRecord, 'dataset'>): boolean {
  return withheldSets(run).length > 0;
}
