import { summaryHeading } from '../../retrieval/history-summary.ts';
import { RAGSystem, type RAGSystemParts } from '../rag-system.ts';
import type { ArmDefinition, ArmParts, OwnTraits } from './arm-definition.ts';

/** An arm whose memories are text; `parts` sets it apart from `rag`. */
function text(
  name: string,
  traits: OwnTraits,
  parts: (all: ArmParts) => Partial<RAGSystemParts> = () => ({}),
): ArmDefinition {
  return { name, traits, open: (all) => new RAGSystem({ ...all, injectionMode: name, ...parts(all) }) };
}

/** Arms that inject nothing: bounds, the baseline, its prefix cache and its twin, and a summary. */
export const textArms: readonly ArmDefinition[] = [
  text(
    'none',
    {
      retrieves: 'nothing',
      control: 'negative',
      summary: 'the same prompt without any memory: the lower bound',
    },
    () => ({ retrieves: 'nothing' }),
  ),
  text(
    'oracle',
    {
      retrieves: 'evidence',
      deployable: false,
      summary: 'the evidence memories and no others as text, in order of creation: the upper bound of retrieval',
    },
    ({ rules }) => ({ rules: { ...rules, placement: 'chronological' }, retrieves: 'evidence' }),
  ),
  text(
    'full',
    {
      retrieves: 'all',
      summary: "all of the user's memories as text, as many of the newest as the budget takes, in order of creation",
    },
    ({ rules }) => ({
      rules: { ...rules, placement: 'chronological' },
      retrieves: 'all',
      injectionMode: 'full-context',
    }),
  ),
  text('rag', {
    equivalence: 'bitwise',
    comparison: 'baseline',
    summary: 'retrieved memories as text, evaluated from the first token: the baseline',
  }),
  {
    ...text(
      'rag-cached',
      {
        equivalence: 'bitwise',
        comparison: 'planned',
        summary: 'as rag, reusing the longest prefix that any earlier prompt of the user shares (prefix caching)',
      },
      ({ openStore }) => ({ prefixCache: openStore }),
    ),
    requires: () => ['promptCache'],
  },
  text('rag-twin', {
    equivalence: 'bitwise',
    control: 'twin',
    summary: 'rag again: its difference to rag is the noise of the measurement (A/A)',
  }),
  {
    ...text(
      'summary',
      { summary: "the retriever's own summary in place of the memories: Markdown, with the relevance of each record" },
      ({ rules }) => ({
        rules: { ...rules, memoriesAs: 'summary', memoryHeader: summaryHeading, placement: 'rank' },
      }),
    ),
    readsSummary: true,
  },
];
