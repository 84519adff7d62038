import type { BenchDatabase } from '../../db/database.ts';
import { unknownQuality } from '../../eval/unknown-quality.ts';
import { type AnsweredTurn, type InspectedTurn, inspectedTurn } from '../stored-turn.ts';
import { inspectedRun, type InspectedRun, turnsOfItem } from '../turn/read-turn.ts';

/** A memory that holds a part of the answer. */
export interface EvidenceMemory {
  readonly memoryId: string;
  readonly content: string;
  /** Arms that have it in their sequence. */
  readonly arms: readonly string[];
}

/** A question with what every arm made of it. */
export interface ItemModel {
  readonly run: InspectedRun;
  readonly itemId: string;
  readonly userId: string;
  /** By arm, repeat and number of the turn; not empty. */
  readonly turns: readonly InspectedTurn[];
  /** One that was answered, for what all have in common; undefined where all failed. */
  readonly sample: AnsweredTurn | undefined;
  /** Those that some arm recalled or was given. */
  readonly evidence: readonly EvidenceMemory[];
  /** How many there are; undefined where the rows do not say. */
  readonly evidenceCount: number | undefined;
}

/** Reads an item. @throws BenchError `not-found` for a name that there is not, `database` for a row that cannot be read */
export function readItemPage(database: BenchDatabase, runName: string, itemId: string): ItemModel {
  const run = inspectedRun(database, runName);
  const quality = unknownQuality(run.model);
  const turns = turnsOfItem(database, run, itemId).map((row) => inspectedTurn(row, quality));
  const answered = turns.filter((turn) => turn.state === 'answered');
  return {
    run,
    itemId,
    userId: turns[0]!.userId,
    turns,
    sample: answered[0],
    evidence: evidenceOf(answered),
    evidenceCount: answered[0]?.scores.item.evidence,
  };
}

/** The evidence by what was recalled, and by what `oracle` was given, which asks no retriever. */
function evidenceOf(turns: readonly AnsweredTurn[]): EvidenceMemory[] {
  const contents = new Map<string, string>();
  for (const { memories } of turns) {
    for (const { memoryId, content, evidence } of memories) if (evidence) contents.set(memoryId, content);
  }
  for (const { arm, promptInfo } of turns) {
    if (arm !== 'oracle') continue;
    for (const { memoryId, text } of promptInfo.segments) {
      if (memoryId !== undefined && !contents.has(memoryId)) contents.set(memoryId, text.trimEnd());
    }
  }
  return [...contents].map(([memoryId, content]) => ({
    memoryId,
    content,
    arms: [...new Set(turns.filter((turn) => has(turn, memoryId)).map(({ arm }) => arm))],
  }));
}

function has({ promptInfo }: AnsweredTurn, memoryId: string): boolean {
  return promptInfo.segments.some((segment) => segment.memoryId === memoryId);
}
