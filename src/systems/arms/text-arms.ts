import { summaryHeading } from '../../retrieval/format-history-summary.ts';
import { RAGSystem, type RAGSystemParts } from '../rag-system.ts';
import type { ArmDefinition, ArmParts, OwnTraits } from './arm-definition.ts';

function text(name: string, traits: OwnTraits, parts: (all: ArmParts) => Partial<RAGSystemParts> = () => ({})) {
  const { retrieves = 'retrieved' } = traits;
  const open = (all: ArmParts) => new RAGSystem({ ...all, retrieves, injectionMode: name, ...parts(all) });
  return { name, traits, open } satisfies ArmDefinition;
}

const chronological = ({ rules }: ArmParts) => ({ rules: { ...rules, placement: 'chronological' as const } });

/** Arms that give memories as text: bounds, the baseline, prefix caching, an A/A twin, and a summary. */
export const textArms: readonly ArmDefinition[] = [
  text('none', {
    retrieves: 'nothing',
    control: 'negative',
    summary: 'the same prompt without any memory: the lower bound',
  }),
  text(
    'oracle',
    {
      retrieves: 'evidence',
      deployable: false,
      summary: 'only the evidence memories, as text in order of creation: the upper bound of retrieval',
    },
    chronological,
  ),
  text(
    'full',
    {
      retrieves: 'all',
      summary: "all of the user's memories as text in order of creation; if over budget, only the newest that fit",
    },
    (all) => ({ ...chronological(all), injectionMode: 'full-context' }),
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
        shares: 'system',
        summary: 'as rag, reusing the longest prefix shared with any earlier prompt of the user (prefix caching)',
      },
      ({ openStore, prefixSharing }) => ({ prefixCache: openStore, prefixSharing }),
    ),
    requires: () => ['promptCache'],
  },
  text('rag-twin', {
    equivalence: 'bitwise',
    control: 'twin',
    summary: 'rag run a second time: its difference from rag is measurement noise (A/A)',
  }),
  {
    ...text(
      'summary',
      { summary: "the retriever's summary instead of the memories: Markdown, with the relevance of each record" },
      ({ rules }) => ({
        rules: { ...rules, memoriesAs: 'summary', memoryHeader: summaryHeading, placement: 'rank' },
      }),
    ),
    readsSummary: true,
  },
];
