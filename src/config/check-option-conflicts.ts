import { BenchError } from '../base/bench-error.ts';
import { type BenchConfig, randomModelPrefix } from './bench-config.ts';
import type { GivenOptions } from './read-options.ts';

type Options = Pick<BenchConfig, 'retriever' | 'cold' | 'dataset' | 'suite' | 'gpu' | 'judge' | 'text' | 'trace'> & {
  readonly model?: string;
};

/** Options, when they have no effect, and what the user can do. */
type Rule = readonly [
  options: readonly string[],
  isUnused: (config: Options, given: GivenOptions) => boolean,
  hint: string,
];

function retrieverRule(name: string, ...options: string[]): Rule {
  // Suite `retrieval` runs every strategy, and a resumed run keeps its retriever.
  const isUnused = ({ retriever, suite }: Options, given: GivenOptions): boolean =>
    retriever !== name && !suite.includes('retrieval') && !suite.includes('all') && !given.has('resume');
  return [options, isUnused, `add --retriever ${name}, or drop it`];
}

const servesNothing = ({ suite }: Options): boolean => !suite.includes('serving') && !suite.includes('all');
const startsServingNothing = (config: Options, given: GivenOptions): boolean =>
  servesNothing(config) && !given.has('resume');
const hasRandomWeights = ({ model = '' }: Options): boolean => model.startsWith(randomModelPrefix);

const rules: readonly Rule[] = [
  retrieverRule('tiered', 'hot', 'cold', 'coldIndex'),
  retrieverRule('salience', 'retrievalTokens', 'halfLife', 'salienceWeights'),
  retrieverRule('hinted', 'preRetrieval'),
  [['gpuLayers'], ({ gpu }) => gpu === 'off', 'add --gpu auto, or drop it'],
  [['errata'], ({ dataset }) => !dataset.includes('locomo'), 'errata correct --dataset locomo'],
  [['coldIndex'], ({ cold }) => cold === undefined, 'give --cold postgres://… too'],
  [['threshold'], ({ retriever }) => retriever === 'given', 'given passages have no scores: drop it'],
  [['trace'], servesNothing, 'a trace is replayed by --suite serving'],
  [['sessions', 'recurrence'], startsServingNothing, 'add --suite serving, or drop it'],
  [['traceRun', 'traceArm', 'replay'], ({ trace }) => trace === undefined, 'name a trace by --trace, or drop it'],
  [['recurrence'], ({ trace }) => trace !== undefined, '--trace says which turns repeat: drop it'],
  [['judgeModel'], ({ judge }) => judge === undefined, 'give --judge URL too'],
  [['judge'], hasRandomWeights, 'a model with random weights gives no right answers: drop it'],
];

/** Options that exclude one another, or need another. */
const conflicts: readonly (readonly [isConflict: Rule[1], message: string, hint: string])[] = [
  [
    ({ text, retriever }) => text === false && retriever === 'tiered',
    '--no-text: --retriever tiered stores texts of memories outside the database',
    'choose another retriever, or drop --no-text',
  ],
  [
    ({ text, judge }) => text === false && judge !== undefined,
    '--no-text: --judge reads the stored answers',
    'drop one of them',
  ],
  [
    (_, given) => given.has('judge') && !given.has('judgeModel') && !given.has('resume'),
    '--judge: no model is named',
    'give --judge-model NAME too',
  ],
  [
    (_, given) => given.has('run') && given.has('resume'),
    '--run and --resume both name a run',
    'a resumed run keeps its name: drop --run',
  ],
];

/** Checks options by the rules and conflicts above. @throws BenchError `bad-option` for one without effect or in conflict */
export function checkOptionConflicts(config: Options, given: GivenOptions): void {
  for (const [options, isUnused, hint] of rules) {
    const unused = options.map((key) => given.get(key)).find((option) => option !== undefined);
    if (unused === undefined || !isUnused(config, given)) continue;
    throw new BenchError('bad-option', `${unused.name}: has no effect in this run`, hint);
  }
  for (const [isConflict, message, hint] of conflicts) {
    if (isConflict(config, given)) throw new BenchError('bad-option', message, hint);
  }
}
