import type { BenchDatabase } from '../../store/database.ts';
import { unknownQuality } from '../../eval/analysis/unknown-quality.ts';
import { type HiddenTexts, hiddenInReports } from '../hidden-texts.ts';
import { type AnsweredTurn, type InspectedTurn, inspectedTurn } from '../stored-turn.ts';
import { inspectedRun, type InspectedRun, turnsOfItem } from '../turn/read-turn.ts';

/** A memory of the evidence. */
export interface EvidenceMemory {
  readonly memoryId: string;
  readonly content: string;
  /** Arms that have it in their sequence. */
  readonly arms: readonly string[];
}

/** A question with the turns of all arms. */
export interface ItemModel {
  readonly run: InspectedRun;
  readonly itemId: string;
  readonly userId: string;
  /** By arm, repeat and number of the turn; not empty. */
  readonly turns: readonly InspectedTurn[];
  /** A turn that gave an answer, for the facts that all share; undefined if all failed. */
  readonly sample: AnsweredTurn | undefined;
  /** The part of it that some arm retrieved or was given. */
  readonly evidence: readonly EvidenceMemory[];
  /** The number of memories of the evidence, by the data set. */
  readonly evidenceCount: number;
}

/** Reads an item. @param hidden by default the rule of reports @throws BenchError `not-found` for a name that there is not, `database` for a row that cannot be read */
export function readItemPage(
  database: BenchDatabase,
  runName: string,
  itemId: string,
  hidden: HiddenTexts = hiddenInReports,
): ItemModel {
  const run = inspectedRun(database, runName, hidden);
  const quality = unknownQuality(run.model);
  const turns = turnsOfItem(database, run, itemId).map(({ id: _, ...row }) => inspectedTurn(row, quality, run.metrics));
  const answered = turns.filter((turn) => turn.state === 'answered');
  return {
    run,
    itemId,
    userId: turns[0]!.userId,
    turns,
    sample: answered[0],
    evidence: evidenceOf(answered),
    evidenceCount: answered[0]?.item.evidence ?? 0,
  };
}

/** Collects the evidence that the arms were given. */
function evidenceOf(turns: readonly AnsweredTurn[]): EvidenceMemory[] {
  const contents = new Map<string, string>();
  for (const { given } of turns) {
    for (const { memoryId, content, evidence } of given.retrieved) if (evidence) contents.set(memoryId, content);
  }
  return [...contents].map(([memoryId, content]) => ({
    memoryId,
    content,
    arms: [...new Set(turns.filter((turn) => has(turn, memoryId)).map(({ arm }) => arm))],
  }));
}

function has({ prompt }: AnsweredTurn, memoryId: string): boolean {
  return prompt.segments.some((segment) => segment.memoryId === memoryId);
}
