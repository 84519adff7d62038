import type { RereadCounts } from '../../../store/records/run-probes.ts';
import { fail, type OptionalCheck, pass, undecided } from './check.ts';

/** The five most frequent differences with their counts; empty if there are none. */
function listed(counts: RereadCounts['data']): string {
  const kinds = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  const shown = kinds.slice(0, 5).map(([kind, count]) => `${kind} (${count})`);
  return shown.join(', ') + (kinds.length > shown.length ? ', …' : '');
}

/** Data: stored turns agree with the data file, read again by separate code, and no drawn question is missing. */
export const data: OptionalCheck = ({ probes: { reread } }) => {
  if (reread === undefined) return null;
  const { turns, questions, withoutFile } = reread;
  const faults = listed(reread.data);
  if (faults !== '') return fail(`turns differ from the data file: ${faults}`);
  if (withoutFile > 0) return undecided(`${withoutFile} of ${turns} turns have no data file in JSON`);
  const evidence = `${turns} turns have the texts, golds and evidence of ${questions} questions of the file`;
  return pass(evidence, `1 turn of ${turns}`);
};

/** Scores: scoring stored answers again by the golds of the data file gives the stored scores. Null for older runs. */
export const scores: OptionalCheck = ({ probes: { reread } }) => {
  if (reread === undefined) return null;
  const { turns, withoutFile, withoutTexts } = reread;
  const faults = listed(reread.scores);
  if (faults !== '') return fail(`stored scores differ from those of the stored answers: ${faults}`);
  if (withoutFile > 0) return undecided(`${withoutFile} of ${turns} turns have no data file in JSON`);
  if (withoutTexts > 0) return undecided('the answers are stored as hashes, which cannot be scored again');
  const evidence = `${turns} stored answers, scored again, have the stored scores`;
  return pass(evidence, `1 score of ${turns}`);
};
