import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { CallOptions, EngineSession } from '../../../engine/engine-session.ts';
import type { Engine } from '../../../engine/engine.ts';
import {
  compareScores,
  likeliestTokens,
  lnProbability,
  meanDivergence,
  type NextDistribution,
  type SequenceScore,
  tokenProbability,
} from '../../../engine/sequence-score.ts';
import { type TokenId, UNKNOWN_TOKEN, commonLength } from '../../../engine/token-id.ts';
import type { DatasetItem, UserLanguage } from '../../../data/dataset.ts';
import { holdsWords } from '../../../data/split-words.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { TurnObservation } from '../../../store/records/turn-observation.ts';
import type { ChatResponse } from '../../../systems/memory-system.ts';
import {
  type AnswerScoringPosition,
  answerScoringPositions,
} from '../../../systems/prompt/answer-scoring-positions.ts';
import { sum } from '../../analysis/statistics/observations.ts';
import { nextTokenAgreement } from '../../analysis/metrics/next-token-agreement.ts';
import type { RecordedGeneration, RecordedRetrieval, RecordedTurn } from './turn-recorder.ts';
import { expectedInjection, type InjectedParts, injectedParts, turnAlpha } from './expected-injection.ts';
import { type GivenForTurn, compareShownMemories } from './compare-shown-memories.ts';
import { type ScorerParts, LikelihoodScorer, type TurnScore } from './likelihood-scorer.ts';

const LIKELIEST_TOKENS = 10;

export interface ObserverParts extends ScorerParts {
  readonly engine: Engine;
  readonly scoresAnswers: boolean;
  readonly reserveTokens: number;
}

export interface AnsweredInSession {
  readonly session: EngineSession;
  readonly response: ChatResponse;
  readonly recorded: RecordedTurn;
  readonly recordedRetrieval?: RecordedRetrieval | undefined;
  /** Tokens that the prompt shares with an earlier one, for an arm with a prompt cache. */
  readonly sharedTokens?: number | undefined;
  readonly memories: Pick<GivenForTurn, 'visible' | 'memories' | 'order'>;
}

/** The session in which a turn was answered: the arm's, unless its system used another. */
export function answeringSession({ session, recorded }: AnsweredInSession): EngineSession {
  return recorded.generation?.session ?? session;
}

interface ObservedTurn {
  readonly arm: ArmTraits;
  readonly observed: Omit<TurnObservation, 'parity' | 'agreement' | 'goldKl'>;
  readonly score: TurnScore;
  /** The prompt up to where the gold answer begins, and that answer. */
  readonly ids: readonly TokenId[];
  readonly gold: readonly TokenId[];
  /** By the engine's meter, the turn evaluated the whole prompt. */
  readonly isWhole: boolean;
}

/** Measures the turns of one item, after each turn and outside all clocks, from the KV that the turn left. */
export class PostTurnMeasurements {
  readonly #parts: ObserverParts;
  readonly #item: DatasetItem;
  readonly #profile: UserLanguage;
  readonly #scorer: LikelihoodScorer;
  readonly #turns: ObservedTurn[] = [];
  readonly #asText = new Map<string, SequenceScore>();

  constructor(parts: ObserverParts, item: DatasetItem, profile: UserLanguage) {
    this.#parts = parts;
    this.#item = item;
    this.#profile = profile;
    this.#scorer = new LikelihoodScorer(parts);
  }

  async observe(arm: ArmTraits, turn: AnsweredInSession, options: CallOptions = {}): Promise<void> {
    const { engine, scoresAnswers, reserveTokens } = this.#parts;
    const [item, { language, unknownAnswer }] = [this.#item, this.#profile];
    const { response, recorded, memories } = turn;
    const { trace, promptInfo, tokens } = response;
    const { suffix, prefixPositions, sessionTokens } = trace;
    const parts = injectedParts(arm, response);
    const promptIds = promptInfo.segments.flatMap(({ tokenIds }) => tokenIds);
    // After the item's own answer prefix if it has one, else after the prompt.
    const scoringPosition = async (answer: string): Promise<AnswerScoringPosition> =>
      (await answerScoringPositions(trace, { answer, ownPrefix: item.answerPrefix }, engine)).afterItemPrefix;
    const gold = await scoringPosition(item.answer ?? unknownAnswer);
    const points = await Promise.all((item.nuggets ?? []).map(scoringPosition));
    const own = scoresAnswers && trace.answer.tokenIds.length > 0 ? [{ suffix, answer: trace.answer.tokenIds }] : [];
    const state = { session: answeringSession(turn), prefixPositions, suffix };
    const score = await this.#scorer.score(state, { gold, others: [...own, ...points] }, options);
    const means = score.others.map((terms) => sum(terms) / terms.length);
    const goldTexts = await engine.detokenize(gold.answer.map((token) => [token]));
    const { logProbabilities } = score.gold;
    const given = memories.memories.map(({ memoryId }) => memoryId);
    const limits = { reserveTokens, windowTokens: engine.info.contextTokens };
    const observed: ObservedTurn['observed'] = {
      ...expectedInjection(arm, parts, { alpha: turnAlpha(arm, response), capabilities: engine.capabilities, given }),
      sequenceSha256: hashIds(sessionTokens),
      sequenceTokens: sessionTokens.length,
      firstForeignToken:
        arm.external === true ? null : firstDifference(promptIds, knownTokens(arm, parts, sessionTokens, promptIds)),
      goldLogProbability: sum(logProbabilities),
      goldTokens: logProbabilities.map((logProbability, index) => ({ token: goldTexts[index]!, logProbability })),
      freeLogProbability: own.length === 0 ? null : means[0]!,
      ...(points.length === 0 ? {} : { nuggetLogProbabilities: means.slice(own.length) }),
      nextTokens: await likeliestTexts(engine, score.next),
      closed: isClosed(item, response, language),
      answer: observedAnswer(recorded.generation, response, score.next, engine.info.endTokens),
      memories: compareShownMemories({ ...memories, item, language, ...limits }, promptInfo),
      ownMs: recorded.ownMs,
      ...observedCall(arm, turn),
    };
    this.#turns.push({
      arm,
      score,
      ids: [...promptIds.slice(0, promptIds.length - suffix.length), ...gold.suffix],
      gold: gold.answer,
      isWhole: prefixPositions === 0 && tokens.evaluated === promptIds.length,
      observed,
    });
  }

  async complete(arm: ArmTraits, options: CallOptions = {}): Promise<TurnObservation> {
    const own = this.#turns.find((turn) => turn.arm.name === arm.name)!;
    // The arm to compare with; undefined if it did not answer.
    const reference = this.#turns.find((turn) =>
      arm.reference === null ? turn.arm.comparison === 'baseline' : turn.arm.name === arm.reference,
    );
    return {
      ...own.observed,
      parity: arm.equivalence === 'bitwise' ? await this.#parity(own, options) : null,
      agreement: reference === undefined ? null : agreementBetween(own.score.next, reference.score.next),
      goldKl: reference === undefined ? null : goldDivergence(own, reference),
    };
  }

  /** Compares with the same tokens evaluated whole: by another arm of the item, else by this turn, else now. */
  async #parity(own: ObservedTurn, options: CallOptions): Promise<TurnObservation['parity']> {
    const key = hashIds(own.ids);
    const whole = this.#turns.filter(({ isWhole, ids }) => isWhole && hashIds(ids) === key);
    const other = whole.find((turn) => turn !== own) ?? whole[0];
    if (other !== undefined) return compareScores(own.score.gold, other.score.gold);
    const asText = this.#asText.get(key) ?? (await this.#scorer.scoreText(own.ids, own.gold, options));
    this.#asText.set(key, asText);
    return compareScores(own.score.gold, asText);
  }
}

function isClosed(
  { answer, acceptedAnswers, query, history }: DatasetItem,
  { promptInfo, memoriesUsed }: ChatResponse,
  language: UserLanguage['language'],
): boolean {
  const contents = [...history, ...memoriesUsed].map(({ content }) => content);
  const texts = [query, promptInfo.systemPrompt, ...contents];
  const isIn = (gold: string): boolean => texts.some((text) => holdsWords(text, gold, language));
  return answer !== null && ![answer, ...acceptedAnswers].some(isIn);
}

/** Compares the answer with what the engine generated. @param next computed from the KV that the turn left */
function observedAnswer(
  generation: RecordedGeneration | null,
  { trace: { answer } }: Pick<ChatResponse, 'trace'>,
  next: NextDistribution,
  endTokens: readonly TokenId[],
): NonNullable<TurnObservation['answer']> {
  if (generation === null) return { sha256: null, asGenerated: false, shortfall: null };
  const { tokens, text } = generation.given;
  return {
    sha256: hashIds(tokens),
    asGenerated: answer.text === text && answer.tokenIds.join() === tokens.join(),
    shortfall: shortfall(tokens[0], next, endTokens),
  };
}

function observedCall(arm: ArmTraits, turn: AnsweredInSession) {
  const { recorded, sharedTokens } = turn;
  const { firstTokenMs, totalMs, outerMs, tries, aheadTokens, generation } = recorded;
  const retrieval = arm.retrieves === 'retrieved' || arm.retrieves === 'donor' ? turn.recordedRetrieval : undefined;
  return {
    ...(generation === null ? {} : { limits: recordedLimits(generation) }),
    watch: {
      firstToken: firstTokenMs,
      total: totalMs,
      outer: outerMs,
      retrieval: retrieval?.ms ?? 0,
      engine: generation?.given.firstTokenMs ?? null,
    },
    ...(retrieval === undefined ? {} : { retrieverQuery: retrieval.query, ...givenAsRetrieved(arm, turn, retrieval) }),
    tries,
    ...(aheadTokens === null ? {} : { aheadTokens }),
    ...(sharedTokens === undefined ? {} : { sharedTokens }),
  };
}

function recordedLimits({ limits }: RecordedGeneration): NonNullable<TurnObservation['limits']> {
  const { maxTokens, stopTexts = [], oneSentence = false, temperature = 0, seed = 0 } = limits;
  return { maxTokens, stopTexts, oneSentence, temperature, seed };
}

/** Whether an arm got exactly what was retrieved; empty for arms that must get other memories. */
function givenAsRetrieved(
  { retrieves, injects }: ArmTraits,
  { response }: AnsweredInSession,
  { memoryIds }: RecordedRetrieval,
): Pick<TurnObservation, 'asRetrieved'> {
  if (retrieves === 'donor' || injects === 'preferences') return {};
  const given = response.trace.retrieved.map(({ memoryId }) => memoryId);
  return { asRetrieved: isDeepStrictEqual(given, [...memoryIds]) };
}

/** How far ln p of the answer's first token is below that of the likeliest. An empty answer counts as an end token. */
function shortfall(first: TokenId | undefined, next: NextDistribution, endTokens: readonly TokenId[]): number | null {
  const chosen = (first === undefined ? endTokens : [first]).flatMap((token) => tokenProbability(next, token) ?? []);
  const [likeliest] = likeliestTokens(next, 1);
  if (likeliest === undefined || (chosen.length === 0 && next.span === 'top')) return null;
  return lnProbability(likeliest.probability) - lnProbability(Math.max(0, ...chosen));
}

function agreementBetween(own: NextDistribution, reference: NextDistribution): TurnObservation['agreement'] {
  if (own.span !== 'all' || reference.span !== 'all') return null;
  return nextTokenAgreement(own.probabilities, reference.probabilities);
}

/** Null if the two turns write the gold answer with different tokens. */
function goldDivergence(own: ObservedTurn, reference: ObservedTurn): number | null {
  const [ours, theirs] = [own.score.gold.distributions, reference.score.gold.distributions];
  if (ours === undefined || theirs === undefined || firstDifference(own.gold, reference.gold) !== null) return null;
  return meanDivergence(theirs, ours);
}

export async function likeliestTexts(engine: Engine, next: NextDistribution, count = LIKELIEST_TOKENS) {
  const likeliest = likeliestTokens(next, count);
  const texts = await engine.detokenize(likeliest.map(({ id }) => [id]));
  return likeliest.map(({ probability }, index) => ({ token: texts[index]!, probability }));
}

/** The ids of a session. Those that eviction made unknown, among the memories, are replaced by the prompt's. */
function knownTokens(
  { evict }: Pick<ArmTraits, 'evict'>,
  { header, lines }: InjectedParts,
  sessionTokens: readonly TokenId[],
  promptIds: readonly TokenId[],
): readonly TokenId[] {
  if (evict === undefined) return sessionTokens;
  const end = header.length + lines.flat().length;
  return sessionTokens.map((id, at) => (id === UNKNOWN_TOKEN && at >= header.length && at < end ? promptIds[at]! : id));
}

/** The first index at which two lists differ, or null. */
export function firstDifference(a: readonly TokenId[], b: readonly TokenId[]): number | null {
  const common = commonLength(a, b);
  return common === Math.max(a.length, b.length) ? null : common;
}

/** sha-256 of token ids, 32 bits each, in hex. */
export function hashIds(ids: readonly TokenId[]): string {
  return createHash('sha256').update(Int32Array.from(ids)).digest('hex');
}
