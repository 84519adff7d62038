import { z } from 'zod';
import { BenchError } from '../../config/bench-error.ts';
import type { TurnRow } from '../../db/schema.ts';
import { type JoinedMode, joinedModeNamed } from '../../systems/dki/injection-mode.ts';
import type { PromptForm } from '../../systems/prompt/prompt-form.ts';
import { hashOfIds } from '../run/turn-evidence.ts';

const segment = z.object({ role: z.string(), tokenIds: z.array(z.number()), memoryId: z.string().exactOptional() });

const columns = z.object({
  promptInfo: z.object({ segments: z.array(segment), budget: z.object({ reserveTokens: z.number() }) }),
  tokens: z.object({ generated: z.number() }),
  scores: z.object({
    evidence: z.object({
      sequenceSha256: z.string(),
      sharesPositions: z.boolean(),
      nextTokens: z.array(z.object({ token: z.string(), probability: z.number() })),
    }),
  }),
  kv: z
    .union([
      z.object({ mode: z.literal('prefix'), alpha: z.number(), memoryIds: z.array(z.string()) }),
      z.object({
        mode: z.string(),
        alpha: z.number(),
        blocks: z.array(z.object({ memoryId: z.string(), position: z.number() })),
      }),
    ])
    .nullable(),
});

/** How memories stood in front of a turn's prompt as K/V. */
export type StoredInjection =
  | { readonly mode: 'prefix'; readonly alpha: number; readonly memoryIds: readonly string[] }
  | {
      readonly mode: JoinedMode;
      readonly alpha: number;
      readonly memoryIds: readonly string[];
      /** The position of the first cell of each block. */
      readonly positions: readonly number[];
    };

/** What a stored turn says of the sequence in front of its answer, and what must come out of it again. */
export interface StoredSequence {
  readonly userId: string;
  readonly segments: readonly z.output<typeof segment>[];
  /** Null where all of it was text. */
  readonly injection: StoredInjection | null;
  readonly reserveTokens: number;
  /** Whose words stand between the parts of the prompt. */
  readonly form: PromptForm['name'];
  readonly answer: string;
  readonly generatedTokens: number;
  /** The likeliest tokens at the beginning of the answer, the likeliest first. */
  readonly nextTokens: readonly { readonly token: string; readonly probability: number }[];
}

/** A sequence cut where injection ends. */
export interface SequenceParts {
  /** Before the first injected memory line; empty where nothing is injected. */
  readonly header: readonly number[];
  readonly lines: readonly { readonly memoryId: string; readonly tokenIds: readonly number[] }[];
  readonly suffix: readonly number[];
}

/**
 * Reads the sequence of a turn from its row.
 * @throws BenchError `not-reproduced` for a turn that failed, or whose ids are not those that the model had;
 * `database` where another release wrote it
 */
export function storedSequence(row: TurnRow): StoredSequence {
  if (row.error !== null) throw cannot(row, 'it failed, and has no answer', 'choose a turn that was answered');
  const parsed = columns.safeParse(row);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new BenchError(
      'database',
      `${nameOf(row)} cannot be read: ${issue!.path.join('.')}: ${issue!.message}`,
      'it was written by another release; run the bench again with this one',
      parsed.error,
    );
  }
  const { promptInfo, tokens, scores, kv } = parsed.data;
  const { segments } = promptInfo;
  const ids = segments.flatMap(({ tokenIds }) => tokenIds);
  const { sequenceSha256, sharesPositions, nextTokens } = scores.evidence;
  if (!sharesPositions && hashOfIds(ids) !== sequenceSha256) {
    throw cannot(row, 'its ids are not those that were read back from the model', 'run the bench again');
  }
  return {
    userId: row.userId,
    segments,
    injection: kv === null ? null : injectionOf(row, kv),
    reserveTokens: promptInfo.budget.reserveTokens,
    form: segments.some(({ role }) => role === 'template') ? 'chat' : 'plain',
    answer: row.answer,
    generatedTokens: tokens.generated,
    nextTokens,
  };
}

/** The memories of a sequence, in their order. */
export function memoriesOf({ segments }: StoredSequence): string[] {
  return segments.flatMap(({ memoryId }) => memoryId ?? []);
}

/**
 * The parts of a sequence; without one memory, its line is gone and everything else stands as it stood, the labels of the
 * other lines and the header of the list too, so that one thing changes.
 */
export function partsOf({ segments, injection }: StoredSequence, leftOut?: string): SequenceParts {
  const injected = new Set(injection?.memoryIds ?? []);
  const lastInjected = segments.findLastIndex(({ memoryId }) => memoryId !== undefined && injected.has(memoryId));
  const header: number[] = [];
  const lines: { memoryId: string; tokenIds: readonly number[] }[] = [];
  const suffix: number[] = [];
  segments.forEach(({ memoryId, tokenIds }, index) => {
    if (memoryId !== undefined && memoryId === leftOut) return;
    if (index > lastInjected) suffix.push(...tokenIds);
    else if (memoryId === undefined) header.push(...tokenIds);
    else lines.push({ memoryId, tokenIds });
  });
  return { header, lines, suffix };
}

function injectionOf(row: TurnRow, kv: NonNullable<z.output<typeof columns>['kv']>): StoredInjection {
  if ('memoryIds' in kv) return kv;
  const { mode: name, alpha, blocks } = kv;
  const mode = joinedModeNamed(name);
  if (mode === undefined) throw cannot(row, `its K/V was joined by "${name}"`, 'use the release that wrote it');
  return {
    mode,
    alpha,
    memoryIds: blocks.map(({ memoryId }) => memoryId),
    positions: blocks.map(({ position }) => position),
  };
}

function nameOf({ itemId, arm }: TurnRow): string {
  return `the turn of item ${itemId}, arm ${arm}`;
}

function cannot(row: TurnRow, why: string, hint: string): BenchError {
  return new BenchError('not-reproduced', `${nameOf(row)} cannot be computed again: ${why}`, hint);
}
