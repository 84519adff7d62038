export const salienceSignals = ['semantic', 'reinforcement', 'recency', 'access'] as const;

/** Weights of the signals; they sum to 1. */
export type SalienceWeights = Readonly<Record<(typeof salienceSignals)[number], number>>;

/** Default weights, from the document that specifies salience. */
export const defaultWeights: SalienceWeights = { semantic: 0.5, reinforcement: 0.2, recency: 0.2, access: 0.1 };

/** Tolerance for sums such as 0.7 + 0.2 + 0.1, which floating-point numbers do not hold exactly. */
const ROUNDING = 1e-9;

/**
 * Reads weights such as `semantic=0.7,recency=0.3`; signals not named get weight 0. Undefined for an unknown or repeated name,
 * a negative number, or a sum other than 1.
 */
export function parseSalienceWeights(text: string): SalienceWeights | undefined {
  const weights = { semantic: 0, reinforcement: 0, recency: 0, access: 0 };
  const open = new Set<string>(salienceSignals);
  for (const part of text.split(',')) {
    const [name = '', value = ''] = part.split('=').map((word) => word.trim());
    if (!open.delete(name) || !/^\d+(\.\d+)?(e-\d+)?$/.test(value) || part.split('=').length > 2) return undefined;
    weights[name as keyof typeof weights] = Number(value);
  }
  const sum = Object.values(weights).reduce((total, weight) => total + weight, 0);
  return Math.abs(sum - 1) < ROUNDING ? weights : undefined;
}

/** Writes weights as `parseSalienceWeights` reads them. */
export function writeSalienceWeights(weights: SalienceWeights): string {
  return salienceSignals.map((signal) => `${signal}=${weights[signal]}`).join(',');
}
