import type { BenchConfig } from '../../../../config/bench-config.ts';
import { type SalienceWeights, writeSalienceWeights } from '../../../../config/salience-weights.ts';
import { presetEmbedderName, presetModels } from '../../../../models/preset-models.ts';
import { searchingRetrieverNames } from '../../../../config/retriever-names.ts';
import { salienceRule } from '../../bench-parts.ts';
import type { MeasureContext } from '../../suite.ts';

/** The strategy that all others are held against. */
export const BASE = 'router' as const;

/** The index of pgvector's own default: it searches one list of ivfflat, not all of them. */
const OWN_PROBES = 'ivfflat-approximate';

type Opening = Parameters<MeasureContext['openRetriever']>;

/** A strategy as it is measured. */
export interface Strategy {
  /** In the tables. */
  readonly label: string;
  readonly opening: Opening;
  /** Name of the embedder, where it is not the run's. */
  readonly embedder?: string;
}

/**
 * Every strategy that searches, as the run opens it. Where long-term memory lies in PostgreSQL, `tiered` by pgvector's own
 * probes, too; where the run's embedder is not the one that ships, the router by that one, too.
 */
export function searchingStrategies({ cold, coldIndex, embedder }: BenchConfig): Strategy[] {
  return searchingRetrieverNames.flatMap((name): Strategy[] => {
    const own: Strategy = { label: name, opening: [name] };
    if (name === BASE && embedder !== presetModels.embedder) return [own, shippedEmbedder(name)];
    if (name === 'tiered' && cold !== undefined && coldIndex !== OWN_PROBES) {
      return [own, { label: `${name}, ${OWN_PROBES}`, opening: [name, { coldIndex: OWN_PROBES }] }];
    }
    return [own];
  });
}

function shippedEmbedder(name: typeof BASE): Strategy {
  return {
    label: `${name}, ${presetEmbedderName}`,
    opening: [name, { embedder: presetModels.embedder }],
    embedder: presetEmbedderName,
  };
}

/** The strategies for a data set: those that search, and the lists of its items where the run is given these. */
export function datasetStrategies(config: BenchConfig): Strategy[] {
  const searching = searchingStrategies(config);
  return config.retriever === 'given' ? [...searching, { label: 'given', opening: ['given'] }] : searching;
}

/** The strategies that are asked about repeated mentions: the router, `salience`, and it without reinforcement. */
export function mentionStrategies(config: Pick<BenchConfig, 'halfLife' | 'salienceWeights'>): Strategy[] {
  const compared: Strategy[] = [BASE, 'salience' as const].map((name) => ({ label: name, opening: [name] }));
  const salienceWeights = withoutReinforcement(salienceRule(config).weights);
  if (salienceWeights === undefined) return compared;
  return [...compared, { label: 'salience, reinforcement=0', opening: ['salience', { salienceWeights }] }];
}

/** The other weights in their proportion; undefined where there is nothing to take away, or nothing else. */
function withoutReinforcement(weights: SalienceWeights): string | undefined {
  const rest = 1 - weights.reinforcement;
  if (rest === 1 || rest === 0) return undefined;
  const { semantic, recency, access } = weights;
  return writeSalienceWeights({
    ...{ semantic: semantic / rest, reinforcement: 0, recency: recency / rest, access: access / rest },
  });
}
