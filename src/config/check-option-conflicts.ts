import { BenchError } from '../base/bench-error.ts';
import { type BenchConfig, randomModelPrefix } from './bench-config.ts';
import type { GivenOptions } from './read-options.ts';

type Options = Pick<BenchConfig, 'retriever' | 'cold' | 'dataset' | 'suite' | 'gpu' | 'judge' | 'text' | 'trace'> & {
  readonly model?: string;
};

/** When options have no effect, and what the user can do. */
interface Rule {
  readonly options: readonly string[];
  readonly isUnused: (config: Options, given: GivenOptions) => boolean;
  readonly hint: string;
}

function retrieverRule(name: string, ...options: string[]): Rule {
  return {
    options,
    // Suite `retrieval` runs every strategy, and a resumed run keeps its retriever.
    isUnused: ({ retriever, suite }, given) =>
      retriever !== name && !suite.includes('retrieval') && !suite.includes('all') && !given.has('resume'),
    hint: `add --retriever ${name}, or drop it`,
  };
}

const servesNothing = ({ suite }: Options): boolean => !suite.includes('serving') && !suite.includes('all');

const rules: readonly Rule[] = [
  retrieverRule('tiered', 'hot', 'cold', 'coldIndex'),
  retrieverRule('salience', 'retrievalTokens', 'halfLife', 'salienceWeights'),
  retrieverRule('hinted', 'preRetrieval'),
  { options: ['gpuLayers'], isUnused: ({ gpu }) => gpu === 'off', hint: 'add --gpu auto, or drop it' },
  {
    options: ['errata'],
    isUnused: ({ dataset }) => !dataset.includes('locomo'),
    hint: 'errata correct --dataset locomo',
  },
  { options: ['coldIndex'], isUnused: ({ cold }) => cold === undefined, hint: 'give --cold postgres://… too' },
  {
    options: ['threshold'],
    isUnused: ({ retriever }) => retriever === 'given',
    hint: 'given passages have no scores: drop it',
  },
  { options: ['trace'], isUnused: servesNothing, hint: 'a trace is replayed by --suite serving' },
  {
    options: ['sessions', 'recurrence'],
    isUnused: (config, given) => servesNothing(config) && !given.has('resume'),
    hint: 'add --suite serving, or drop it',
  },
  {
    options: ['traceRun', 'traceArm', 'replay'],
    isUnused: ({ trace }) => trace === undefined,
    hint: 'name a trace by --trace, or drop it',
  },
  {
    options: ['recurrence'],
    isUnused: ({ trace }) => trace !== undefined,
    hint: '--trace says which turns repeat: drop it',
  },
  { options: ['judgeModel'], isUnused: ({ judge }) => judge === undefined, hint: 'give --judge URL too' },
  {
    options: ['judge'],
    isUnused: ({ model = '' }) => model.startsWith(randomModelPrefix),
    hint: 'a model with random weights gives no right answers: drop it',
  },
];

/** Options that exclude one another, or need another. */
const conflicts: readonly (Readonly<Record<'message' | 'hint', string>> & {
  readonly isConflict: (config: Options, given: GivenOptions) => boolean;
})[] = [
  {
    isConflict: ({ text, retriever }) => text === false && retriever === 'tiered',
    message: '--no-text: --retriever tiered stores texts of memories outside the database',
    hint: 'choose another retriever, or drop --no-text',
  },
  {
    isConflict: ({ text, judge }) => text === false && judge !== undefined,
    message: '--no-text: --judge reads the stored answers',
    hint: 'drop one of them',
  },
  {
    isConflict: (_, given) => given.has('judge') && !given.has('judgeModel') && !given.has('resume'),
    message: '--judge: no model is named',
    hint: 'give --judge-model NAME too',
  },
  {
    isConflict: (_, given) => given.has('run') && given.has('resume'),
    message: '--run and --resume both name a run',
    hint: 'a resumed run keeps its name: drop --run',
  },
];

/** Checks options by the rules and conflicts above. @throws BenchError `bad-option` for one without effect or in conflict */
export function checkOptionConflicts(config: Options, given: GivenOptions): void {
  for (const { options, isUnused, hint } of rules) {
    const unused = options.map((key) => given.get(key)).find((option) => option !== undefined);
    if (unused === undefined || !isUnused(config, given)) continue;
    throw new BenchError('bad-option', `${unused.name}: has no effect in this run`, hint);
  }
  const conflict = conflicts.find(({ isConflict }) => isConflict(config, given));
  if (conflict !== undefined) throw new BenchError('bad-option', conflict.message, conflict.hint);
}
