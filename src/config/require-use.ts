import { BenchError } from '../base/bench-error.ts';
import { type BenchConfig, randomModelPrefix } from './bench-config.ts';
import type { GivenOptions } from './read-options.ts';

type Options = Pick<BenchConfig, 'retriever' | 'cold' | 'dataset' | 'suite' | 'gpu' | 'judge' | 'text'> & {
  readonly model?: string;
};

/** When options have no effect, and what the user can do. */
interface Rule {
  readonly options: readonly string[];
  readonly isUnused: (config: Options) => boolean;
  readonly hint: string;
}

function ofRetriever(name: string, ...options: string[]): Rule {
  return {
    options,
    // Suite `retrieval` runs every strategy.
    isUnused: ({ retriever, suite }) => retriever !== name && !suite.includes('retrieval') && !suite.includes('all'),
    hint: `add --retriever ${name}, or drop it`,
  };
}

const rules: readonly Rule[] = [
  ofRetriever('tiered', 'hot', 'cold', 'coldIndex'),
  ofRetriever('salience', 'retrievalTokens', 'halfLife', 'salienceWeights'),
  ofRetriever('hinted', 'preRetrieval'),
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
    hint: 'passages of --retriever given have no scores: drop it',
  },
  { options: ['judgeModel'], isUnused: ({ judge }) => judge === undefined, hint: 'give --judge URL too' },
  {
    options: ['judge'],
    isUnused: ({ model = '' }) => model.startsWith(randomModelPrefix),
    hint: 'random weights give no answers that could be right: drop it',
  },
];

/** Checks that all options have an effect. @throws BenchError `bad-option` for one that the run would not use, or that another excludes */
export function requireUse(config: Options, given: GivenOptions): void {
  for (const { options, isUnused, hint } of rules) {
    const unused = options.map((key) => given.get(key)).find((option) => option !== undefined);
    if (unused === undefined || !isUnused(config)) continue;
    throw new BenchError('bad-option', `${unused.name}: has no effect in this run`, hint);
  }
  const { retriever, judge, text } = config;
  if (text === false && retriever === 'tiered') {
    const message = '--no-text: --retriever tiered keeps texts of memories in stores of its own';
    throw new BenchError('bad-option', message, 'choose another retriever, or drop --no-text');
  }
  if (text === false && judge !== undefined) {
    throw new BenchError('bad-option', '--no-text: --judge reads the stored answers', 'drop one of them');
  }
  const judged = given.get('judge');
  if (judged !== undefined && !given.has('judgeModel') && !given.has('resume')) {
    throw new BenchError('bad-option', `${judged.name}: no model is named`, 'give --judge-model NAME too');
  }
  if (given.has('run') && given.has('resume')) {
    const hint = 'a resumed run keeps its name: drop --run';
    throw new BenchError('bad-option', '--run and --resume both name a run', hint);
  }
}
