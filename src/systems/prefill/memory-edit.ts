import { lastExactCut, requireCells } from '../../engine/engine-capabilities.ts';
import type { Engine } from '../../engine/engine.ts';
import type { SequenceState } from '../../engine/sequence-state.ts';
import { commonLength, type TokenId } from '../../engine/token-id.ts';
import { contiguousPositions } from '../../kv/join-blocks.ts';
import type { EditWay } from '../../store/records/suite-measurements.ts';
import { type BuiltPrompt, prefixParts } from '../prompt/build-prompt.ts';
import type { BlockContext } from './gather-blocks.ts';

/** A memory whose value changes, and the prompts before and after it: with the same memories at the same places. */
export interface MemoryEdit {
  readonly memoryId: string;
  readonly before: BuiltPrompt;
  readonly after: BuiltPrompt;
  /** `before` with the correction as one more line after the others. */
  readonly corrected: BuiltPrompt;
  /** The value's tokens: where they begin in both prompts, and how many they are. What follows them is the same. */
  readonly value: { readonly start: number; readonly before: number; readonly after: number };
}

/** KV as it is stored before the change. */
export interface StoredMemories {
  /** Header and memory lines, evaluated as one text. */
  readonly prefix: SequenceState;
  /** Each line, evaluated alone after the header. */
  readonly blocks: readonly SequenceState[];
}

type EditContext = Pick<BlockContext, 'engine' | 'session' | 'kv' | 'signal'>;

/** Length of the common prefix of all three. */
function sharedTokens(text: readonly TokenId[], before: readonly TokenId[], after: readonly TokenId[]): number {
  return Math.min(commonLength(text, before), commonLength(text, after));
}

/**
 * Finds a value's tokens in the line of its memory before and after the change. A token that the value shares with the text
 * beside it belongs to the value.
 * @param oldValue stands once in the memory
 */
export async function findValue(
  engine: Pick<Engine, 'tokenize'>,
  { memoryId, before, after }: Pick<MemoryEdit, 'memoryId' | 'before' | 'after'>,
  oldValue: string,
): Promise<MemoryEdit['value']> {
  const { segments } = before.info;
  const place = segments.findIndex((segment) => segment.memoryId === memoryId);
  const lineStart = segments.slice(0, place).reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  const { text, tokenIds: old } = segments[place]!;
  const changed = after.info.segments[place]!.tokenIds;
  // The label before it may contain the value too.
  const at = text.lastIndexOf(oldValue);
  const around = [text.slice(0, at), text.slice(at + oldValue.length)];
  const [front = [], behind = []] = await engine.tokenize(around.map((part) => ({ text: part, as: 'text' })));
  const start = sharedTokens(front, old, changed);
  const shared = sharedTokens(behind.toReversed(), old.toReversed(), changed.toReversed());
  const end = Math.min(shared, old.length - start, changed.length - start);
  return { start: lineStart + start, before: old.length - start - end, after: changed.length - start - end };
}

/** Computes the KV of a prompt's memories as a store would hold it: as one prefix, and as blocks. */
export async function storeMemories(context: EditContext, prompt: BuiltPrompt): Promise<StoredMemories> {
  const { session, kv, signal } = context;
  const { header, lines } = prefixParts(prompt);
  await session.clear({ signal });
  await session.evaluate(prompt.tokenIds.slice(0, prompt.prefixTokens), { signal });
  using cells = await session.exportCells();
  const prefix = kv.cut(cells, 0, cells.positions.length);
  const front = kv.cut(prefix, 0, header.length);
  const blocks: SequenceState[] = [];
  for (const { tokenIds } of lines) blocks.push(await cellsBehind(context, front, tokenIds, tokenIds.length));
  return { prefix, blocks };
}

/** Evaluates tokens after some cells, and copies the cells of the first `count` tokens. */
async function cellsBehind(
  { session, kv, signal }: EditContext,
  front: SequenceState,
  tokenIds: readonly TokenId[],
  count: number,
): Promise<SequenceState> {
  const start = front.positions.length;
  await session.importCells(front, { signal });
  await session.evaluate(tokenIds, { signal });
  using cells = await session.exportCells({ start, end: start + count });
  return kv.cut(cells, 0, count);
}

/** Joins parts one after another and imports them. */
async function importJoined(
  { engine, session, kv, signal }: EditContext,
  header: SequenceState,
  parts: readonly SequenceState[],
): Promise<void> {
  const { rotary } = requireCells(engine);
  const positions = contiguousPositions(parts, header.positions.length);
  const placements = parts.map((block, index) => ({ block, position: positions[index]!, alpha: 1 }));
  using joined = kv.join(header, placements, { rotary });
  await session.importCells(joined, { signal });
}

type Apply = (context: EditContext, stored: StoredMemories, edit: MemoryEdit) => Promise<readonly TokenId[]>;

const ways: Readonly<Record<EditWay, Apply>> = {
  rebuild: async ({ session, signal }, _, { after }) => {
    await session.clear({ signal });
    return after.tokenIds;
  },
  append: async ({ session, signal }, { prefix }, { before, corrected }) => {
    await session.importCells(prefix, { signal });
    return corrected.tokenIds.slice(before.prefixTokens);
  },
  block: async (context, { prefix, blocks }, { memoryId, after }) => {
    const { header, lines, suffix } = prefixParts(after);
    const changed = lines.findIndex((line) => line.memoryId === memoryId);
    const { tokenIds } = lines[changed]!;
    const front = context.kv.cut(prefix, 0, header.length);
    const block = await cellsBehind(context, front, tokenIds, tokenIds.length);
    await importJoined(context, front, blocks.with(changed, block));
    return suffix;
  },
  splice: async ({ engine, session, kv, signal }, { prefix }, { after, value }) => {
    const kept = lastExactCut(engine.capabilities, value.start);
    if (kept === 0) await session.clear({ signal });
    else await session.importCells(kv.cut(prefix, 0, kept), { signal });
    return after.tokenIds.slice(kept);
  },
  overwrite: async (context, { prefix }, { after, value: { start, ...tokens } }) => {
    const { engine, kv } = context;
    const front = kv.cut(prefix, 0, start);
    // An engine that cannot evaluate a single token evaluates the next one too.
    const count = Math.max(tokens.after, engine.capabilities.leastTokens);
    const value = await cellsBehind(context, front, after.tokenIds.slice(start, start + count), tokens.after);
    const behind = start + tokens.before;
    const cells = prefix.positions.length;
    await importJoined(context, front, [value, ...(behind < cells ? [kv.cut(prefix, behind, cells)] : [])]);
    return after.tokenIds.slice(after.prefixTokens);
  },
  unchanged: async ({ session, signal }, { prefix }, { before }) => {
    await session.importCells(prefix, { signal });
    return before.tokenIds.slice(before.prefixTokens);
  },
};

/**
 * Prepares a session for a prompt in which one memory has changed, from KV stored before the change, in one way:
 * - `rebuild` evaluates the whole changed prompt: the reference.
 * - `append` keeps the old prefix, and adds the correction after it as text.
 * - `block` joins the stored blocks, with that of the changed memory computed alone.
 * - `splice` keeps the cells before the value, up to an exact cut, and evaluates everything after them.
 * - `overwrite` evaluates only the value's tokens, in their new context, and keeps all later cells. If the values differ
 *   in length, these cells move and their keys are rotated.
 * - `unchanged` imports the old prefix: the control.
 *
 * @returns the tokens that remain to be evaluated, up to the answer
 */
export function applyEdit(way: EditWay, ...task: Parameters<Apply>): Promise<readonly TokenId[]> {
  return ways[way](...task);
}
