import { z } from 'zod';
import { object } from './schemas.ts';

/** A metric's declaration; comparisons, verdicts, tables and figures follow this, and no name. */
export const metricDeclaration = object({
  /** For programs: `contains`. */
  name: z.string(),
  /** For readers: the heading of its column. */
  label: z.string(),
  /** `binary`: 0 or 1 of each turn. */
  kind: z.enum(['binary', 'continuous']),
  /** `%`: values are shares from 0 to 1, shown as percentages, and differences in points; any other is shown as it is. */
  unit: z.string(),
  /** Defined of items that nothing answers, as of the others; missing of a metric that needs a gold. */
  ofAbsent: z.literal(true).exactOptional(),
  /** The better value. */
  direction: z.enum(['higher', 'lower']),
  /** A loss that still counts as kept: in points where the unit is `%`, else in the unit. */
  margin: z.number(),
});

export type MetricDeclaration = z.output<typeof metricDeclaration>;
