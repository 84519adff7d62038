import type { Trace, TraceSegment, TraceTurn } from '../../kv/traffic/trace.ts';
import { BenchError, didYouMean } from '../../base/bench-error.ts';
import { commonLength, type TokenIds } from '../../engine/token-id.ts';
import { openDatabase } from '../../store/database.ts';
import type { PromptSegment } from '../../store/records/prompt-info.ts';
import type { RunRecord } from '../../store/records/run-record.ts';
import { lastRunsHint } from '../../store/run-names.ts';
import { RunRepository } from '../../store/run-repository.ts';
import { type StoredPrompt, TurnRepository } from '../../store/turn-repository.ts';

/** The turns to read from a database. */
export interface RunChoice {
  /** Default: the latest run. */
  readonly run?: string | undefined;
  /** Default: `rag`. */
  readonly arm?: string | undefined;
}

/**
 * Reads the traffic of one arm of a stored run: the memories of each prompt in order, identified by their tokens. The time
 * of a turn is when it was stored.
 * @throws BenchError `not-found` for an unknown run or arm, `database` as `openDatabase`
 */
export function readRunTrace(path: string, { run: name, arm = 'rag' }: RunChoice): Trace {
  using database = openDatabase({ path, readOnly: true });
  const run = findRun(new RunRepository(database), path, name);
  const prompts = [...new TurnRepository(database).listPrompts(run.id, arm)];
  if (prompts.length === 0) {
    const arms = run.plan.arms.map((traits) => traits.name);
    const message = `${path}: run "${run.name}" has no answered turn of arm "${arm}"${didYouMean(arm, arms)}`;
    throw new BenchError('not-found', message, `choose by --trace-arm; its arms are ${arms.join(', ')}`);
  }
  const parts = prompts.map(({ prompt }) => promptParts(prompt));
  const headerTokens = parts.reduce(
    (common, { front }) => Math.min(common, commonLength(front, parts[0]!.front)),
    Infinity,
  );
  const segmentsOf = segmentsByTokens();
  const turns = prompts.map(({ userId, sessionId, createdAt, generatedTokens }, index): TraceTurn => {
    const { front, memories, behind } = parts[index]!;
    const rest = front.slice(headerTokens);
    const isSegment = rest.length > 0 && memories.length > 0;
    const reusable = isSegment ? [{ id: 'header', tokenIds: rest }, ...memories] : memories;
    return {
      atMs: createdAt,
      userId,
      conversationId: sessionId,
      segments: reusable.map(({ id, tokenIds }) => segmentsOf(userId, id, tokenIds)),
      queryTokens: memories.length === 0 ? rest.length : behind,
      answerTokens: generatedTokens ?? 0,
    };
  });
  return { name: `${run.name}, ${arm}`, headerTokens, idsOf: 'text', turns };
}

function findRun(runs: RunRepository, path: string, name: string | undefined): RunRecord {
  const names = runs.names();
  const wanted = name ?? names.at(-1);
  const run = wanted === undefined ? undefined : runs.findByName(wanted);
  if (run !== undefined) return run;
  const message =
    wanted === undefined ? `${path} holds no run` : `${path} holds no run "${wanted}"${didYouMean(wanted, names)}`;
  throw new BenchError('not-found', message, lastRunsHint(names));
}

/** Tokens of a stored prompt: before the memories (all, if it has none), of each memory, and after the memories. */
function promptParts({ segments }: StoredPrompt['prompt']) {
  const isMemory = ({ role }: PromptSegment): boolean => role === 'memory';
  const tokens = (part: readonly PromptSegment[]) => part.flatMap(({ tokenIds }) => tokenIds);
  const first = segments.findIndex(isMemory);
  if (first === -1) return { front: tokens(segments), memories: [], behind: 0 };
  const end = segments.findLastIndex(isMemory) + 1;
  return {
    front: tokens(segments.slice(0, first)),
    memories: segments.slice(first, end).map(({ memoryId: id, role, tokenIds }) => ({ id: id ?? role, tokenIds })),
    behind: tokens(segments.slice(end)).length,
  };
}

/** Gives tokens of a user the same segment whenever they come back, and a memory a new id when its tokens differ. */
function segmentsByTokens(): (userId: string, id: string, tokenIds: TokenIds) => TraceSegment {
  const known = new Map<string, TraceSegment>();
  const versions = new Map<string, number>();
  return (userId, id, tokenIds) => {
    const key = JSON.stringify([userId, tokenIds]);
    const segment = known.get(key);
    if (segment !== undefined) return segment;
    const owner = JSON.stringify([userId, id]);
    const version = (versions.get(owner) ?? 0) + 1;
    versions.set(owner, version);
    const created = { id: version === 1 ? id : `${id} (${version})`, tokens: tokenIds.length };
    known.set(key, created);
    return created;
  };
}
