import type { RereadCounts } from '../../../store/records/run-probes.ts';
import { decided, type OptionalCheck, undecided } from './check.ts';

/** Up to five kinds of differences with their counts; empty without any. */
function listed(counts: RereadCounts['data']): string {
  const kinds = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  const shown = kinds.slice(0, 5).map(([kind, count]) => `${kind} (${count})`);
  return shown.join(', ') + (kinds.length > shown.length ? ', …' : '');
}

/** Data: stored turns say what the data file says, read again by other code, and no drawn question was left out. */
export const data: OptionalCheck = ({ probes: { reread } }) => {
  if (reread === undefined) return null;
  const { turns, questions, withoutFile } = reread;
  const faults = listed(reread.data);
  if (faults !== '') return decided('data', false, `turns differ from the data file: ${faults}`);
  if (withoutFile > 0) return undecided('data', `${withoutFile} of ${turns} turns have no data file in JSON Lines`);
  return decided(
    'data',
    true,
    `${turns} turns have the texts, golds and evidence of ${questions} questions of the file`,
  );
};

/** Scores: every stored answer, scored again against the golds of the data file, has the stored scores. Null for older runs. */
export const scores: OptionalCheck = ({ probes: { reread } }) => {
  if (reread === undefined) return null;
  const { turns, withoutFile, withoutTexts } = reread;
  const faults = listed(reread.scores);
  if (faults !== '') return decided('scores', false, `stored scores are not those of the answers: ${faults}`);
  if (withoutFile > 0) return undecided('scores', `${withoutFile} of ${turns} turns have no data file in JSON Lines`);
  if (withoutTexts > 0) return undecided('scores', 'the answers are stored as hashes, which cannot be scored again');
  return decided('scores', true, `${turns} stored answers, scored again, have the stored scores`);
};
