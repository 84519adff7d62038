import { type DatasetItem, evidenceIsKnown } from '../../data/dataset.ts';
import type { ArmTraits } from '../../store/records/arm-traits.ts';

/** True for an item that an arm is asked: an arm that is given the evidence takes no item whose evidence is unknown. */
export function isAskedOf({ retrieves }: Pick<ArmTraits, 'retrieves'>, item: DatasetItem): boolean {
  return retrieves !== 'evidence' || evidenceIsKnown(item);
}
