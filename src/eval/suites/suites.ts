import { type SuiteName, suiteNames } from '../../config/bench-config.ts';
import { ablationSuite } from './ablation-suite.ts';
import { alphaSuite } from './alpha-suite.ts';
import { coherenceSuite } from './coherence-suite.ts';
import { contextSuite } from './context-suite.ts';
import { coreferenceSuite } from './coreference-suite.ts';
import { isolationSuite } from './isolation-suite.ts';
import { latencySuite } from './latency-suite.ts';
import { mainSuite } from './main-suite.ts';
import { methodsSuite } from './methods-suite.ts';
import { placementSuite } from './placement-suite.ts';
import { retrievalSuite } from './retrieval-suite.ts';
import { scalingSuite } from './scaling-suite.ts';
import { servingSuite } from './serving-suite.ts';
import { storageSuite } from './storage-suite.ts';
import type { Suite } from '../run/suite.ts';

/** Every suite by its name. */
const suites: Readonly<Record<SuiteName, Suite>> = {
  main: mainSuite,
  context: contextSuite,
  ablation: ablationSuite,
  placement: placementSuite,
  alpha: alphaSuite,
  latency: latencySuite,
  coherence: coherenceSuite,
  retrieval: retrievalSuite,
  storage: storageSuite,
  isolation: isolationSuite,
  scaling: scalingSuite,
  coreference: coreferenceSuite,
  methods: methodsSuite,
  serving: servingSuite,
};

/** The suites of those names, each once, in the order of the paper's tables; `all` is every one. */
export function suitesNamed(names: readonly (SuiteName | 'all')[]): Suite[] {
  return suiteNames.filter((name) => names.includes('all') || names.includes(name)).map((name) => suites[name]);
}
