import { basename, join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { commonLength } from '../../engine/token-id.ts';
import { kvBytes, type SequenceState } from '../../engine/sequence-state.ts';
import { externalKvName } from '../../kv/external-kv-file.ts';
import { prefixParts } from '../prompt/build-prompt.ts';
import { type KvParts, prefillAsText, type PrefillStrategy, textPrefill } from './prefill-strategy.ts';

interface ExternalKvParts extends Pick<KvParts<unknown>, 'engine' | 'kv'> {
  /** Holds a file for each user, or for each prefix of a user. */
  readonly folder: string;
}

/**
 * Cells made elsewhere, read from a file in every turn, in place of header and memories: trained caches, caches compressed
 * by other programs, or those of `kv export`. If the cells are those of the prompt's first tokens, the turn continues after
 * them; any other cells replace the whole prefix.
 *
 * The caller made the files and owns them: removing a memory changes none. A turn throws BenchError `not-found` without a file
 * for the user; `bad-data`, `bad-model` as `readExternalKv`.
 * @see Cartridges, arXiv 2506.06266; KVLink, arXiv 2502.16002
 */
export function externalPrefill(parts: ExternalKvParts): PrefillStrategy {
  const prefill: PrefillStrategy['prefill'] = async (prompt, { session, userId }) => {
    const { tokenIds, prefixTokens } = prompt;
    const { lines } = prefixParts(prompt);
    if (lines.length === 0) return prefillAsText(session, tokenIds);
    const start = performance.now();
    const { path, found } = await findFile(parts, userId, tokenIds.slice(0, prefixTokens));
    const { state, sha256 } = found;
    await session.importCells(state);
    const replaced = isBeginning(state, tokenIds.slice(0, prefixTokens)) ? state.tokenIds.length : prefixTokens;
    const suffix = tokenIds.slice(replaced);
    const cells = state.positions.length;
    return {
      suffix,
      record: {
        strategy: 'prefix',
        file: basename(path),
        alpha: 1,
        key: sha256,
        memoryIds: lines.map(({ memoryId }) => memoryId),
        tokens: cells,
        origin: 'disk',
        computeMs: 0,
        sizeBytes: kvBytes(state),
      },
      account: {
        cache: 'hit',
        built: 0,
        recomputed: 0,
        ...(replaced === prefixTokens ? {} : { remainder: prefixTokens - replaced }),
        resident: cells,
        positions: session.tokens.length + suffix.length,
      },
      kvLoadMs: performance.now() - start,
      kvComputeMs: 0,
    };
  };
  return { ...textPrefill, prefill };
}

async function findFile({ engine, kv, folder }: ExternalKvParts, userId: string, prefix: readonly number[]) {
  const paths = [externalKvName(userId, prefix), externalKvName(userId)].map((name) => join(folder, name));
  for (const path of paths) {
    const found = await kv.readExternal(path, engine);
    if (found !== undefined) return { path, found };
  }
  throw new BenchError(
    'not-found',
    `there is no KV file for user ${userId}: neither ${paths.join(' nor ')}`,
    'make one (docs/methods/external-kv.md), or export that of another arm: dki-bench kv export',
  );
}

/** True if the cells are those of the first tokens of a prefix, each at its position. */
function isBeginning({ tokenIds, positions }: SequenceState, prefix: readonly number[]): boolean {
  return (
    commonLength([...tokenIds], prefix) === tokenIds.length && positions.every((position, cell) => position === cell)
  );
}
