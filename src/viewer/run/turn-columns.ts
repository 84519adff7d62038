import type { MetricDeclaration } from '../../store/records/run-description.ts';
import type { TurnSort } from '../../store/turn-list-repository.ts';

/** A column of numbers in the list of turns. */
export interface TurnColumn {
  readonly key: TurnSort;
  readonly heading: string;
  /** Explanation of the heading. */
  readonly meaning: string;
  readonly digits: number;
  /** True for a score of the answer, which is not shown if quality is unknown. */
  readonly quality: boolean;
  /** Shown only if the list is sorted by it. */
  readonly onDemand: boolean;
}

const quality = { digits: 2, quality: true, onDemand: true } as const;
const cost = { quality: false, onDemand: false } as const;

const columns: readonly TurnColumn[] = [
  { ...quality, key: 'taskSuccess', heading: 'success', meaning: 'right answer, or rightly none' },
  { ...quality, key: 'exactMatch', heading: 'exact match', meaning: 'the gold answer, normalised' },
  { ...quality, key: 'tokenF1', heading: 'token F1', meaning: 'words in common with the gold answer', onDemand: false },
  { ...quality, key: 'memoryRecall', heading: 'memory recall', meaning: 'the answer contains the gold answer' },
  { ...quality, key: 'rougeL', heading: 'ROUGE-L', meaning: 'longest common subsequence with the gold answer' },
  { ...quality, key: 'bleu', heading: 'BLEU', meaning: 'n-grams in common with the gold answer' },
  { ...quality, key: 'abstention', heading: 'abstention', meaning: 'no answer where none could be given' },
  { ...quality, key: 'goldLogProbability', heading: 'gold ln p', meaning: 'log-probability of the gold answer, nats' },
  { ...quality, key: 'freeLogProbability', heading: 'free ln p', meaning: 'mean log-probability of free text, nats' },
  {
    key: 'evidenceRank',
    heading: 'evidence rank',
    meaning: 'rank of the evidence that was retrieved last',
    digits: 0,
    quality: false,
    onDemand: true,
  },
  { ...cost, key: 'firstTokenMs', heading: 'TTFT, ms', meaning: 'time to first token', digits: 1 },
  { ...cost, key: 'totalMs', heading: 'total, ms', meaning: 'time of the whole turn', digits: 1 },
  { ...cost, key: 'promptTokens', heading: 'prompt', meaning: 'tokens given as text', digits: 0 },
  { ...cost, key: 'kvResidentTokens', heading: 'KV', meaning: 'cells filled by injected KV', digits: 0 },
  { ...cost, key: 'evaluatedTokens', heading: 'evaluated', meaning: 'tokens run through the model', digits: 0 },
  { ...cost, key: 'generatedTokens', heading: 'generated', meaning: 'tokens of the answer', digits: 0 },
];

/** All columns that the list of a run can be sorted by, in their order: that of its primary metric stands in for its own. */
export function turnColumns({ name, label, unit }: MetricDeclaration): readonly TurnColumn[] {
  const [success, ...others] = columns.filter(({ key }) => key !== name);
  const meaning = `the primary metric of the run${unit === '%' ? '' : `, ${unit}`}`;
  return [success!, { ...quality, key: 'primaryValue', heading: label, meaning, onDemand: false }, ...others];
}
