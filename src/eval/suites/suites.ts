import { type SuiteName, suiteNames, suitesByNameOnly } from '../../config/bench-config.ts';
import { coherenceData, contextData, coreferenceData } from '../../data/generators/growing-user-generators.ts';
import { multiTurnData, scalingData } from '../../data/generators/growing-user-generators.ts';
import { withSetting } from '../../systems/arms/arm-name.ts';
import { measureEdit } from '../run/measure/measure-edit.ts';
import { measureLength } from '../run/measure/measure-length.ts';
import { measureRetrieval } from '../run/measure/measure-retrieval.ts';
import { measureReuse } from '../run/measure/measure-reuse.ts';
import { measureServing } from '../run/measure/measure-serving.ts';
import { measureStorage } from '../run/measure/measure-storage.ts';
import type { Suite } from '../run/suite.ts';

/** Text, exact KV, and independently computed blocks: plain, with first tokens recomputed, or at shared positions. */
export const joinedBlockComparison = [
  'rag',
  'dki',
  'dki-blocks',
  ...[1, 2, 4, 8, 16].map((count) => `dki-link:${count}`),
  'dki-parallel',
];

/** The values of α in the DKI paper. */
const ALPHAS = [0, 0.2, 0.4, 0.5, 0.6, 0.8, 1, 1.2];

const EVICTION_RULES = ['random', 'streaming', 'knorm', 'keydiff', 'lagkv'];

/** Each arm with 15 % and with 30 % of the tokens recomputed. */
function atTwoShares(...arms: readonly string[]): string[] {
  return arms.flatMap((arm) => [`${arm}:.15`, `${arm}:.3`]);
}

const definitions: Readonly<Record<SuiteName, Omit<Suite, 'name'>>> = {
  // Tables 1 and 1b.
  main: {
    question: 'quality, tokens and latency by arm; wrong answers by class, the funnel',
    arms: [
      ...['none', 'oracle', 'full', 'rag', 'rag-cached', 'dki', 'dki-blocks'],
      ...['dki-link:4', 'dki-parallel', 'rag-twin', 'dki-wrong'],
    ],
    // Takes under a minute on two cores. Fewer users with more questions each would widen the intervals.
    shipped: { limit: 100, users: 20 },
  },
  // Table 2: memories may fill half the window; with `budget=all`, KV may fill every free cell.
  context: {
    question: 'a fixed window and a growing number of memories: retrieved, kept, dropped, answered',
    arms: [
      ...['rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-parallel'],
      ...['rag@budget=all', 'dki@budget=all', 'dki-blocks@budget=all', 'dki-parallel@budget=all'],
    ],
    data: contextData,
    cellsPerPosition: 2,
    defaults: { topK: 1000 },
  },
  // Table 3. Each prompt template also runs with `rag`, which shows the effect of the template itself.
  ablation: {
    question:
      'ablations: KV, exactness, recomputed tokens, positions, placement, labels, template, gating, hybrid, summary',
    arms: [
      ...[...joinedBlockComparison, 'dki-gated', 'dki-hybrid', 'summary', 'rag@placement=rank', 'dki@placement=rank'],
      ...['rag@labels=bullet', 'dki@labels=bullet', 'dki-blocks@labels=bullet', 'dki-parallel@labels=bullet'],
    ],
    triesTemplate: ['rag', 'dki', 'dki-blocks'],
    defaults: { limit: 200 },
  },
  // Table 3b: varies one option at a time of how blocks are computed and placed.
  placement: {
    question: 'one option of blocks at a time: the context they are computed in, shared tokens, positions, temperature',
    arms: [
      ...['rag', 'dki-blocks', 'dki-blocks@context=none', 'dki-blocks@context=previous'],
      ...['dki-blocks@sink=4', 'dki-blocks@sink=4:kept'],
      ...['dki-blocks@context=none@sink=4', 'dki-blocks@context=none@sink=4:kept'],
      ...['dki-parallel', 'dki-parallel@temperature=0.9'],
    ],
    // A small model answers this part within a minute.
    shipped: { limit: 24 },
  },
  // Table 4.
  alpha: {
    question: 'recall and fluency by the factor α of injected values',
    arms: ['rag', ...ALPHAS.map((alpha) => withSetting('dki', 'alpha', alpha))],
    defaults: { limit: 200 },
    scoresAnswers: true,
  },
  // Table 5.
  latency: {
    question: 'cache misses against hits, where the time to first token goes, and from which turn on KV pays off',
    arms: [
      ...['rag', 'rag-cached', 'rag-cached@order=stable', 'dki', 'dki-resident', 'dki-blocks'],
      ...['dki-blocks@built=ahead', 'dki-link:4', 'dki-parallel', 'rag-twin'],
    ],
    defaults: { limit: 200, repeats: 2 },
    timesAreResults: true,
  },
  // Table 6.
  coherence: {
    question: "recall by depth of the conversation; the history holds the arm's own answers",
    arms: ['rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-link:4', 'dki-parallel'],
    data: coherenceData,
  },
  // Tables 7 and 7b: the language model answers no question.
  retrieval: {
    question: 'recall@k, MRR, nDCG@10 and time by retrieval strategy and kind of question',
    arms: [],
    measure: async (context) => ({ retrieval: await measureRetrieval(context) }),
  },
  // Table 8.
  storage: {
    question: 'bytes per memory token by KV type and tier, against the text, and the time to save and load',
    arms: ['rag', 'dki', 'dki-blocks'],
    defaults: { limit: 24 },
    requires: ['checkpoints', 'cells'],
    measure: async (context) => ({ storage: await measureStorage(context) }),
    timesAreResults: true,
  },
  // Table 9. Every run plants secrets and asks for them; this suite does so for every prefill strategy.
  isolation: {
    question: 'cross-user leakage matrix: which user hears which secret',
    arms: ['rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-link:4', 'dki-parallel', 'dki-hybrid', 'dki-gated'],
    defaults: { limit: 24 },
  },
  // Figures F1 to F3.
  scaling: {
    question: 'quality and time to first token by number of memories, the evidence rotated over positions',
    arms: ['rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-link:4', 'dki-parallel', 'rag-twin'],
    data: scalingData,
    defaults: { topK: 1000 },
    timesAreResults: true,
  },
  // Table 10.
  coreference: {
    question: 'memories that say "she" for someone named in an earlier one: what independent blocks lose',
    arms: joinedBlockComparison,
    data: coreferenceData,
    // All memories of a user, so that nothing depends on retrieval.
    defaults: { topK: 5 },
  },
  // Tables 11 and 13. With all tokens recomputed, every rule reproduces the text, so one arm of that kind is enough.
  methods: {
    question: 'recomputing, evicting and quantising KV at equal budgets, against randomly chosen tokens',
    arms: [
      ...['rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-blocks@context=previous', 'dki-parallel', 'dki-link:4'],
      ...atTwoShares('dki-random', 'dki-first', 'dki-random:ranked', 'dki-ranked', 'dki-cacheblend'),
      ...atTwoShares('dki-cacheblend-oracle', 'dki-informative', 'dki-query'),
      'dki-first:1',
      ...EVICTION_RULES.flatMap((rule) => [`dki-evict-${rule}:.5`, `dki-blocks-evict-${rule}:.5`]),
      ...['dki', 'dki-blocks'].flatMap((arm) => [`${arm}@store=q8_0`, `${arm}@store=q4_0`]),
    ],
    // A small model answers this part within three minutes.
    shipped: { limit: 20 },
  },
  // Table 12.
  serving: {
    question: 'time to first token under open-loop load, by rate, up to saturation',
    arms: ['rag', 'rag-cached', 'dki', 'dki-blocks'],
    defaults: { limit: 100 },
    measure: async (context) => ({ serving: await measureServing(context) }),
    timesAreResults: true,
  },
  // Tables 14 and 14b. The language model answers no question.
  length: {
    question:
      'time to first token by length of the memories, and from which length each tier of KV beats recomputation',
    arms: [],
    requires: ['cells', 'checkpoints'],
    measure: async (context) => ({ length: await measureLength(context) }),
    timesAreResults: true,
  },
  // Table 15. The questions are those about a value that a later memory replaced.
  edit: {
    question: 'what answers say after a memory has changed behind its stored KV: the new value, the old one, neither',
    arms: [],
    requires: ['cells'],
    measure: async (context) => ({ edit: await measureEdit(context) }),
  },
  // Tables 16 and 16b. The language model gives a token to each turn of generated traffic.
  reuse: {
    question: 'what caches find under traffic, played and simulated, and which arm is fastest by length and reuse',
    arms: [],
    requires: ['cells', 'checkpoints'],
    measure: async (context) => ({ reuse: await measureReuse(context) }),
    timesAreResults: true,
  },
  // Table 17. English only, since small models other than ours answer Chinese questions poorly.
  'multi-turn': {
    question:
      'several questions on one context: what an earlier turn evicted and a later one needs, with and without repair',
    arms: [
      ...['rag', 'rag-cached', 'dki', 'dki@store=q8_0', 'dki@store=q4_0', 'dki-blocks', 'dki-blocks@store=q4_0'],
      ...['random', 'knorm', 'snapkv'].flatMap((rule) => [`dki-evict-${rule}:.5`, `dki-blocks-evict-${rule}:.5`]),
      // At equal bytes: with twelve memories of about twenty tokens, evicting half of all but two whole ones stores about
      // as much as evicting .4 of all.
      ...['knorm', 'snapkv'].flatMap((rule) => {
        const evicted = `dki-blocks-evict-${rule}:.5`;
        return [`dki-blocks-evict-${rule}:.4`, `${evicted}@repair=2`, `${evicted}@repair=2:random`];
      }),
    ],
    data: multiTurnData.filter(({ language }) => language === 'en'),
    // All memories of a user, so that the context stays the same.
    defaults: { topK: 1000 },
  },
};

export const suites = Object.fromEntries(
  suiteNames.map((name): [SuiteName, Suite] => [name, { name, ...definitions[name] }]),
) as Readonly<Record<SuiteName, Suite>>;

/** The named suites, each once, in the order of the report's tables; `all`: every suite that is not run by name only. */
export function suitesNamed(names: readonly (SuiteName | 'all')[]): Suite[] {
  const all = names.includes('all') ? suiteNames.filter((name) => !suitesByNameOnly.includes(name)) : [];
  return suiteNames.filter((name) => names.includes(name) || all.includes(name)).map((name) => suites[name]);
}
