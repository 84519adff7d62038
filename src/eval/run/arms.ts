import { BenchError } from '../../config/bench-error.ts';
import type { StateStore } from '../../kv/state-store.ts';
import type { MemorySearchResult } from '../../memory/memory-search-result.ts';
import type { BenchSystem } from '../../systems/bench-system.ts';
import { DKISystem } from '../../systems/dki/dki-system.ts';
import { fullContext } from '../../systems/full-context.ts';
import { noMemory } from '../../systems/no-memory.ts';
import { oracle } from '../../systems/oracle.ts';
import { RAGSystem } from '../../systems/rag/rag-system.ts';
import type { Recall } from '../../systems/recall.ts';
import type { SystemParts } from '../../systems/system-parts.ts';

/** The item that is being asked, as far as an arm may know of it. */
export interface ItemView {
  /** What the retriever found for it, once for all arms. */
  readonly recall: Recall;
  /** The evidence memories, for the oracle alone. */
  readonly evidence: () => readonly MemorySearchResult[];
  /** All memories that the user has at that time, for full context. */
  readonly all: (userId: string) => readonly MemorySearchResult[];
  /** Another user's memories in place of those recalled, for the control. */
  readonly donated: Recall;
}

/** What tables and gates need to know of an arm. */
export interface ArmTraits {
  readonly name: string;
  /** It claims the token sequence of `rag`, and so its next-token probabilities, bit by bit. */
  readonly exact: boolean;
  /** It hands memories over as K/V, so that its turns are new, seen or exempt. */
  readonly kv: boolean;
}

/** One arm of the bench: a recall and a hand-over under a name. */
export interface Arm extends ArmTraits {
  readonly open: (parts: SystemParts, item: ItemView, openStore: () => StateStore) => BenchSystem;
}

const arms: readonly Arm[] = [
  { name: 'none', exact: false, kv: false, open: (parts) => noMemory(parts) },
  { name: 'oracle', exact: false, kv: false, open: (parts, item) => oracle(parts, item.evidence) },
  { name: 'full', exact: false, kv: false, open: (parts, item) => fullContext(parts, item.all) },
  { name: 'rag', exact: true, kv: false, open: (parts, item) => new RAGSystem({ ...parts, recall: item.recall }) },
  {
    name: 'rag-cached',
    exact: true,
    kv: false,
    open: (parts, item, openStore) =>
      new RAGSystem({ ...parts, recall: item.recall, prefixCache: openStore(), injectionMode: 'rag-cached' }),
  },
  {
    name: 'dki',
    exact: true,
    kv: true,
    open: (parts, item, openStore) => new DKISystem({ ...parts, recall: item.recall, store: openStore() }),
  },
  {
    name: 'rag-twin',
    exact: true,
    kv: false,
    open: (parts, item) => new RAGSystem({ ...parts, recall: item.recall, injectionMode: 'rag-twin' }),
  },
  {
    name: 'dki-wrong',
    exact: false,
    kv: true,
    open: (parts, item, openStore) => new DKISystem({ ...parts, recall: item.donated, store: openStore() }),
  },
];

/** The arms of the main suite, in the order of its tables. */
export const MAIN_ARMS: readonly string[] = arms.map((arm) => arm.name);

/**
 * The arms of those names, each once.
 * @param own arms that somebody brings; they come before ours of the same name
 * @throws BenchError `bad-option` on a name that nobody has
 */
export function armsNamed(names: readonly string[], own: readonly Arm[] = []): Arm[] {
  const known = [...own, ...arms];
  return [...new Set(names)].map((name) => {
    const arm = known.find((candidate) => candidate.name === name);
    if (arm !== undefined) return arm;
    throw new BenchError('bad-option', `--arms: no arm "${name}"`, `choose among ${MAIN_ARMS.join(', ')}`);
  });
}
