import { summaryHeading } from '../../retrieval/history-summary.ts';
import { RAGSystem } from '../rag-system.ts';
import type { ArmDefinition, OwnTraits } from './arm-definition.ts';

/** Traits that arms share which put memories into the prompt as text. */
const text = {
  retrieves: 'retrieved',
  injects: 'nothing',
  equivalence: 'none',
  control: null,
  comparison: 'exploratory',
  keepsSession: false,
} as const satisfies Partial<OwnTraits>;

/** Arms that inject nothing: bounds, the baseline, its prefix cache and its twin, and a summary. */
export const textArms: readonly ArmDefinition[] = [
  {
    name: 'none',
    traits: () => ({
      ...text,
      retrieves: 'nothing',
      control: 'negative',
      summary: 'the same prompt without any memory: the lower bound',
      mark: { colour: '#6b6f71', shape: 'half-disc', dash: [2, 4] },
    }),
    open: (parts) => new RAGSystem({ ...parts, retrieves: 'nothing', injectionMode: 'none' }),
  },
  {
    name: 'oracle',
    traits: () => ({
      ...text,
      retrieves: 'evidence',
      deployable: false,
      summary: 'the evidence memories and no others as text, in order of creation: the upper bound of retrieval',
      mark: { colour: '#8c85ad', shape: 'star', dash: [3, 3] },
    }),
    open: (parts) =>
      new RAGSystem({
        ...parts,
        rules: { ...parts.rules, placement: 'chronological' },
        retrieves: 'evidence',
        injectionMode: 'oracle',
      }),
  },
  {
    name: 'full',
    traits: () => ({
      ...text,
      retrieves: 'all',
      summary: "all of the user's memories as text, as many of the newest as the budget takes, in order of creation",
      mark: { colour: '#857925', shape: 'pentagon', dash: [5, 5] },
    }),
    open: (parts) =>
      new RAGSystem({
        ...parts,
        rules: { ...parts.rules, placement: 'chronological' },
        retrieves: 'all',
        injectionMode: 'full-context',
      }),
  },
  {
    name: 'rag',
    traits: () => ({
      ...text,
      equivalence: 'bitwise',
      comparison: 'baseline',
      summary: 'retrieved memories as text, evaluated from the first token: the baseline',
      mark: { colour: '#268eea', shape: 'circle', dash: [1, 0] },
    }),
    open: (parts) => new RAGSystem({ ...parts, injectionMode: 'rag' }),
  },
  {
    name: 'rag-cached',
    traits: () => ({
      ...text,
      equivalence: 'bitwise',
      comparison: 'planned',
      summary: 'as rag, reusing the longest prefix that any earlier prompt of the user shares (prefix caching)',
      mark: { colour: '#157b91', shape: 'square', dash: [6, 3] },
    }),
    requires: () => ['promptCache'],
    open: (parts) => new RAGSystem({ ...parts, prefixCache: parts.openStore, injectionMode: 'rag-cached' }),
  },
  {
    name: 'rag-twin',
    traits: () => ({
      ...text,
      equivalence: 'bitwise',
      control: 'twin',
      summary: 'rag again: its difference to rag is the noise of the measurement (A/A)',
      mark: { colour: '#6b6f71', shape: 'circle', dash: [1, 2] },
    }),
    open: (parts) => new RAGSystem({ ...parts, injectionMode: 'rag-twin' }),
  },
  {
    name: 'summary',
    traits: () => ({
      ...text,
      summary: "the retriever's own summary in place of the memories: Markdown, with the relevance of each record",
      mark: { colour: '#2b787f', shape: 'chevron', dash: [1, 3] },
    }),
    readsSummary: true,
    open: (parts) =>
      new RAGSystem({
        ...parts,
        rules: { ...parts.rules, memoriesAs: 'summary', memoryHeader: summaryHeading, placement: 'rank' },
        injectionMode: 'summary',
      }),
  },
];
