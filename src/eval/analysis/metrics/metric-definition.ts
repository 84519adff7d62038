import type { MetricDeclaration } from '../../../store/records/metric-declaration.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';

/** A metric of one turn: what it says of itself, and its value. */
export interface MetricDefinition extends MetricDeclaration {
  /** Null where it does not apply to the item. */
  of(turn: AnsweredResult): number | null;
}
