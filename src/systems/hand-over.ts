import type { Generation, GenerationLimits } from '../llm/generation.ts';
import type { ModelSequence } from '../llm/model-sequence.ts';
import type { BuiltPrompt } from './prompt/build-prompt.ts';

/** The prompt of a turn and whose it is. */
export interface HandOverRequest {
  readonly prompt: BuiltPrompt;
  readonly userId: string;
  readonly limits: GenerationLimits;
  /** Multiplies the values of injected memories; 1 leaves them as they are. Text has none to scale. */
  readonly alpha: number;
}

/** What the hand-over of one prompt gave and cost. */
export interface HandOverResult {
  readonly generation: Generation;
  /** Milliseconds before the suffix was evaluated: loading K/V, and computing K/V that was not there. */
  readonly kvLoadMs: number;
  readonly kvComputeMs: number;
  /** Milliseconds after the answer: keeping what the next turn may find. In `kvCompute` and `total`, not in TTFT. */
  readonly keepMs: number;
  /** Cells filled without evaluation. */
  readonly residentTokens: number;
  /** Positions that the prompt takes: fewer than its tokens where blocks share them. */
  readonly positions: number;
  /** Tokens evaluated to build K/V that was not there. */
  readonly builtTokens: number;
  /** Tokens of blocks evaluated again in sight of what precedes them. */
  readonly linkTokens: number;
  /** What this hand-over must have evaluated, by its own account; the meter is the judge. */
  readonly expectedEvaluatedTokens: number;
  /** `new` where K/V was built in this turn, `seen` where it was found, `none` where nothing is kept. */
  readonly reuse: 'new' | 'seen' | 'none';
  readonly details: Readonly<Record<string, unknown>>;
}

/** Memory lines as they may stand in prompts to come, and the header that they stand behind. */
export interface LinesToCome {
  readonly header: readonly number[];
  readonly lines: readonly { readonly memoryId: string; readonly tokenIds: readonly number[] }[];
}

/** What was done before a turn that may find it. */
export interface AheadWork {
  /** Tokens evaluated, by the meter. */
  readonly tokens: number;
  readonly ms: number;
}

/** How to hand it over: as text, or as K/V in front of it. Owns one sequence of the model. */
export interface HandOver {
  readonly sequence: ModelSequence;
  answer(request: HandOverRequest): Promise<HandOverResult>;
  /** Computes and keeps what turns with these lines will look for; missing where that depends on what stands beside them. */
  prepare?(userId: string, toCome: LinesToCome): Promise<AheadWork>;
  /**
   * Brings another sequence to where the last turn's generation began, by the same way, and gives
   * the tokens that are still to be evaluated there: for scoring outside any meter.
   */
  replay(sequence: ModelSequence): Promise<readonly number[]>;
  /** Deletes what the last turn left behind where it contains the memory. */
  forget(userId: string, memoryId: string): void;
  /** Deletes what the last turn left behind. What is kept for later turns stays. */
  forgetLastTurn(): void;
  /** Drops what was kept for the users so far. */
  reset(): void;
}

/** What a prompt gives that is evaluated whole, as text. */
export async function answerAsText(
  sequence: ModelSequence,
  tokenIds: readonly number[],
  limits: GenerationLimits,
): Promise<HandOverResult> {
  await sequence.clear();
  return {
    generation: await sequence.generate(tokenIds, limits),
    kvLoadMs: 0,
    kvComputeMs: 0,
    keepMs: 0,
    residentTokens: 0,
    positions: tokenIds.length,
    builtTokens: 0,
    linkTokens: 0,
    expectedEvaluatedTokens: tokenIds.length,
    reuse: 'none',
    details: {},
  };
}
