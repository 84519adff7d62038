import { type BenchConfig, randomModelPrefix } from './bench-config.ts';
import { BenchError } from '../base/bench-error.ts';

/** A value, and the name of its option as the user wrote it. */
export interface Given {
  readonly value: unknown;
  readonly name: string;
}

/** Options of one retrieval strategy only. */
const optionsOfStrategy: Readonly<Record<string, readonly string[]>> = {
  tiered: ['hot', 'cold', 'coldIndex', 'eventsPort'],
  salience: ['retrievalTokens', 'halfLife', 'salienceWeights'],
  hinted: ['preRetrieval'],
};

/** @throws BenchError `bad-option` for an option that needs texts to be stored */
function requireNoText(retriever: BenchConfig['retriever'], judge: string | undefined): void {
  const refused = (what: string, hint: string) => new BenchError('bad-option', `--no-text: ${what}`, hint);
  if (retriever === 'tiered') {
    const hint = 'choose another retriever, or drop --no-text';
    throw refused('--retriever tiered keeps texts of memories in stores of its own', hint);
  }
  if (judge !== undefined) throw refused('--judge reads the stored answers', 'drop one of them');
}

/** Checks that all options have an effect. @throws BenchError `bad-option` for one that the run would not use */
export function requireUse(
  config: Pick<BenchConfig, 'retriever' | 'cold' | 'dataset' | 'suite' | 'gpu' | 'judge' | 'text'> & {
    readonly model?: string;
  },
  given: ReadonlyMap<string, Given>,
) {
  const { retriever, cold, dataset, suite, gpu, judge, text, model = '' } = config;
  // Suite `retrieval` runs every strategy.
  const comparesAll = suite.includes('retrieval') || suite.includes('all');
  const unused = ({ name }: Given, hint: string) =>
    new BenchError('bad-option', `${name}: has no effect in this run`, hint);
  for (const [strategy, keys] of Object.entries(optionsOfStrategy)) {
    const idle = keys.map((key) => given.get(key)).find((option) => option !== undefined);
    if (retriever !== strategy && !comparesAll && idle !== undefined)
      throw unused(idle, `add --retriever ${strategy}, or drop it`);
  }
  const layers = given.get('gpuLayers');
  if (gpu === 'off' && layers !== undefined) throw unused(layers, 'add --gpu auto, or drop it');
  if (text === false) requireNoText(retriever, judge);
  const errata = given.get('errata');
  if (errata !== undefined && !dataset.includes('locomo')) throw unused(errata, 'errata correct --dataset locomo');
  const index = given.get('coldIndex');
  if (index !== undefined && cold === undefined) throw unused(index, 'give --cold postgres://… too');
  const threshold = given.get('threshold');
  if (retriever === 'given' && threshold !== undefined)
    throw unused(threshold, 'passages of --retriever given have no scores: drop it');
  const [judgeGiven, judgeModel] = [given.get('judge'), given.get('judgeModel')];
  if (judge === undefined && judgeModel !== undefined) throw unused(judgeModel, 'give --judge URL too');
  if (judgeGiven !== undefined && model.startsWith(randomModelPrefix)) {
    throw unused(judgeGiven, 'random weights give no answers that could be right: drop it');
  }
  if (judgeGiven !== undefined && judgeModel === undefined && !given.has('resume')) {
    throw new BenchError('bad-option', `${judgeGiven.name}: no model is named`, 'give --judge-model NAME too');
  }
}
