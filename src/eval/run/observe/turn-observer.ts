import { createHash } from 'node:crypto';
import type { Checkpoint } from '../../../engine/checkpoint.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { EngineSession } from '../../../engine/engine-session.ts';
import {
  compareScores,
  likeliestTokens,
  type NextDistribution,
  type SequenceScore,
} from '../../../engine/sequence-score.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { DatasetItem } from '../../../data/dataset.ts';
import { containsTokens } from '../../../data/normalise.ts';
import type { UserLanguage } from '../../../data/user-language.ts';
import type { ArmTraits } from '../../../records/arm-traits.ts';
import type { Observed } from '../../../records/observed.ts';
import type { ChatResponse } from '../../../systems/contracts.ts';
import { isPreference } from '../../../systems/prompt/placement.ts';

const LIKELIEST_TOKENS = 10;

/** An engine to observe with: `scoring` is a session that no arm uses and no turn's meter counts. */
export interface ObserverParts {
  readonly engine: Engine;
  readonly scoring: EngineSession;
  /** Scores each arm's own answer too: another pass a turn. */
  readonly scoresAnswers: boolean;
}

/** A turn as observed, before it is known what the other arms of its item gave. */
export interface ObservedTurn {
  readonly observed: Omit<Observed, 'agreement'>;
  readonly next: NextDistribution;
}

/**
 * Scores gold answers and numerical parity of the turns of one item, after each turn, outside every clock and meter: from
 * the K/V that the turn left in its session, restored elsewhere and cut where the suffix began.
 */
export class TurnObserver {
  readonly #parts: ObserverParts;
  readonly #item: DatasetItem;
  readonly #profile: UserLanguage;
  readonly #gold: string;
  readonly #references = new Map<string, SequenceScore>();

  /** @param profile of the user who asks */
  constructor(parts: ObserverParts, item: DatasetItem, profile: UserLanguage) {
    this.#parts = parts;
    this.#item = item;
    this.#profile = profile;
    this.#gold = item.answer ?? profile.unknownAnswer;
  }

  /** @param session in which the turn was answered; it is left as it is */
  async observe(arm: ArmTraits, session: EngineSession, response: ChatResponse): Promise<ObservedTurn> {
    const { engine } = this.#parts;
    const { trace, promptInfo } = response;
    const ids = promptInfo.segments.flatMap((segment) => segment.tokenIds);
    const [gold = []] = await engine.tokenize([{ text: `${trace.answerLead}${this.#gold}`, as: 'text' }]);
    await using left = await this.#checkpointOf(session, trace.prefixPositions);
    const score = await this.#scoreFrom(left.checkpoint, response, gold);
    const goldTexts = await engine.detokenize(gold.map((token) => [token]));
    const observed: ObservedTurn['observed'] = {
      ...injectable(arm, response),
      sequenceSha256: hashOfIds(trace.sessionTokens),
      sequenceTokens: trace.sessionTokens.length,
      firstForeignToken: firstDifference(ids, trace.sessionTokens),
      goldLogProbability: sumOf(score.logProbabilities),
      goldTokens: score.logProbabilities.map((logProbability, index) => ({ token: goldTexts[index]!, logProbability })),
      freeLogProbability: await this.#freeLogProbability(left.checkpoint, response),
      parity: arm.equivalence === 'bitwise' ? compareScores(score, await this.#reference(ids, gold)) : null,
      nextTokens: await likeliestTexts(engine, score.next),
      closed: this.#isClosed(response),
    };
    return { observed, next: score.next };
  }

  /** The K/V that the turn left, until it is disposed of; null where the whole prompt was text. */
  async #checkpointOf(
    session: EngineSession,
    prefixPositions: number,
  ): Promise<AsyncDisposable & { readonly checkpoint: Checkpoint | null }> {
    const checkpoint = prefixPositions === 0 ? null : await session.checkpoint();
    return {
      checkpoint,
      [Symbol.asyncDispose]: async () => {
        if (checkpoint !== null) await this.#parts.engine.deleteCheckpoint(checkpoint);
      },
    };
  }

  async #scoreFrom(
    checkpoint: Checkpoint | null,
    { trace }: ChatResponse,
    continuation: readonly TokenId[],
  ): Promise<SequenceScore> {
    const { scoring } = this.#parts;
    if (checkpoint === null) await scoring.clear();
    else {
      await scoring.restore(checkpoint);
      await scoring.truncate(trace.prefixPositions);
    }
    return scoring.score(trace.suffix, continuation);
  }

  /** Fluency: mean ln p of the system's own answer behind the same K/V; null for an answer without tokens. */
  async #freeLogProbability(checkpoint: Checkpoint | null, response: ChatResponse): Promise<number | null> {
    const answer = response.trace.answer.tokenIds;
    if (!this.#parts.scoresAnswers || answer.length === 0) return null;
    const { logProbabilities } = await this.#scoreFrom(checkpoint, response, answer);
    return sumOf(logProbabilities) / answer.length;
  }

  #isClosed({ promptInfo, memoriesUsed }: ChatResponse): boolean {
    const { answer, acceptedAnswers, query, history } = this.#item;
    const texts = [
      query,
      promptInfo.systemPrompt,
      ...history.map((message) => message.content),
      ...memoriesUsed.map((memory) => memory.content),
    ];
    const { language } = this.#profile;
    return (
      answer !== null &&
      ![answer, ...acceptedAnswers].some((gold) => texts.some((text) => containsTokens(text, gold, language)))
    );
  }

  /** The same tokens evaluated whole, as text: what bitwise arms are compared with. */
  async #reference(ids: readonly TokenId[], gold: readonly TokenId[]): Promise<SequenceScore> {
    const key = hashOfIds(ids);
    const known = this.#references.get(key);
    if (known !== undefined) return known;
    const { scoring } = this.#parts;
    await scoring.clear();
    const reference = await scoring.score(ids, gold);
    this.#references.set(key, reference);
    return reference;
  }
}

/** The memories that an arm was to inject, by the prompt and not by its own account. */
function injectable(
  { injects }: ArmTraits,
  { memoriesUsed, promptInfo }: ChatResponse,
): Pick<Observed, 'injectableMemories' | 'injectableTokens'> {
  if (injects === 'nothing') return { injectableMemories: 0, injectableTokens: 0 };
  const wanted = injects === 'memories' ? memoriesUsed : memoriesUsed.filter(isPreference);
  const ids = new Set(wanted.map((memory) => memory.memoryId));
  const { segments } = promptInfo;
  const last = segments.findLastIndex(({ memoryId }) => memoryId !== undefined && ids.has(memoryId));
  const injectableTokens = segments.slice(0, last + 1).reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  return { injectableMemories: wanted.length, injectableTokens };
}

/** The likeliest next tokens as text. */
export async function likeliestTexts(
  engine: Pick<Engine, 'detokenize'>,
  next: NextDistribution,
  count = LIKELIEST_TOKENS,
): Promise<Observed['nextTokens']> {
  const likeliest = likeliestTokens(next, count);
  const texts = await engine.detokenize(likeliest.map(({ id }) => [id]));
  return likeliest.map(({ probability }, index) => ({ token: texts[index]!, probability }));
}

/** sha-256 of token ids, 32 bits each, in hex. */
export function hashOfIds(ids: readonly TokenId[]): string {
  return createHash('sha256').update(Int32Array.from(ids)).digest('hex');
}

/** The first index at which two lists differ, or null. */
export function firstDifference(a: readonly TokenId[], b: readonly TokenId[]): number | null {
  const length = Math.max(a.length, b.length);
  for (let index = 0; index < length; index++) {
    if (a[index] !== b[index]) return index;
  }
  return null;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
