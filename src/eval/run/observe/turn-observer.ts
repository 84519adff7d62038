import type { CallOptions, EngineSession } from '../../../engine/engine-session.ts';
import type { Engine } from '../../../engine/engine.ts';
import {
  compareScores,
  likeliestTokens,
  logProbabilityOf,
  meanDivergence,
  type NextDistribution,
  probabilityOf,
  type SequenceScore,
} from '../../../engine/sequence-score.ts';
import { type TokenId, UNKNOWN_TOKEN } from '../../../engine/token-id.ts';
import type { DatasetItem, UserLanguage } from '../../../data/dataset.ts';
import { containsTokens } from '../../../data/normalise.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { Observed } from '../../../store/records/observed.ts';
import type { ChatResponse } from '../../../systems/contracts.ts';
import { answerPlaces } from '../../../systems/prompt/answer-prefix.ts';
import { agreementOf } from '../../analysis/metrics/agreement.ts';
import type { RecordedGeneration, RecordedTurn } from './turn-recorder.ts';
import { hashIds } from './hash-ids.ts';
import { injectable, type InjectedParts, injectedParts } from './injected-parts.ts';
import { type GivenForTurn, shownMemories } from './shown-memories.ts';
import { type ScoredTexts, type ScorerParts, TurnScorer, type TurnScore } from './turn-scorer.ts';

const LIKELIEST_TOKENS = 10;

/** An engine to observe with. */
export interface ObserverParts extends ScorerParts {
  readonly engine: Engine;
  /** Scores each arm's own answer too: another pass a turn. */
  readonly scoresAnswers: boolean;
  /** Positions that every prompt leaves to its answer. */
  readonly reserveTokens: number;
}

/** A turn that was answered. */
export interface AnsweredInSession {
  /** That of its arm. */
  readonly session: EngineSession;
  readonly response: ChatResponse;
  readonly recorded: RecordedTurn;
  /** The user's own memories at that time, and those that the arm may show. */
  readonly memories: Pick<GivenForTurn, 'visible' | 'memories'>;
}

/** The session in which a turn was answered: that of its arm, unless its system chose another. */
export function sessionOf({ session, recorded }: Pick<AnsweredInSession, 'session' | 'recorded'>): EngineSession {
  return recorded.generation?.session ?? session;
}

/** A turn as observed, before it is known what the other arms of its item gave. */
interface ObservedTurn {
  readonly arm: ArmTraits;
  readonly observed: Omit<Observed, 'parity' | 'agreement' | 'goldKl'>;
  readonly score: TurnScore;
  /** The prompt up to where the gold answer begins, and that answer. */
  readonly ids: readonly TokenId[];
  readonly gold: readonly TokenId[];
  /** All of the prompt ran through the model in this turn, by the engine's meter. */
  readonly isWhole: boolean;
}

/**
 * Scores gold answers and numerical parity of the turns of one item, after each turn, outside every clock and meter: from
 * the KV that the turn left in its session.
 */
export class TurnObserver {
  readonly #parts: ObserverParts;
  readonly #item: DatasetItem;
  readonly #profile: UserLanguage;
  readonly #gold: string;
  readonly #scorer: TurnScorer;
  readonly #seen = new Map<string, ObservedTurn>();
  /** By the ids that were evaluated. */
  readonly #asText = new Map<string, SequenceScore>();

  /** @param profile of the user who asks */
  constructor(parts: ObserverParts, item: DatasetItem, profile: UserLanguage) {
    this.#parts = parts;
    this.#item = item;
    this.#profile = profile;
    this.#gold = item.answer ?? profile.unknownAnswer;
    this.#scorer = new TurnScorer(parts);
  }

  /** Observes a turn; its session is left as it is. */
  async observe(arm: ArmTraits, turn: AnsweredInSession, options: CallOptions = {}): Promise<void> {
    const { engine, scoresAnswers, reserveTokens } = this.#parts;
    const { response, recorded, memories } = turn;
    const { trace, promptInfo, tokens } = response;
    const session = sessionOf(turn);
    const { suffix, prefixPositions } = trace;
    const parts = injectedParts(arm, response);
    const promptIds = promptInfo.segments.flatMap((segment) => segment.tokenIds);
    const place = await this.#goldPlace(response);
    const own = scoresAnswers && trace.answer.tokenIds.length > 0 ? trace.answer.tokenIds : undefined;
    const score = await this.#scorer.score({ session, prefixPositions, suffix }, { gold: place, own }, options);
    const goldTexts = await engine.detokenize(place.answer.map((token) => [token]));
    this.#seen.set(arm.name, {
      arm,
      score,
      ids: [...promptIds.slice(0, promptIds.length - suffix.length), ...place.suffix],
      gold: place.answer,
      isWhole: prefixPositions === 0 && tokens.evaluated === promptIds.length,
      observed: {
        ...injectable(arm, parts),
        sequenceSha256: hashIds(trace.sessionTokens),
        sequenceTokens: trace.sessionTokens.length,
        firstForeignToken: firstDifference(promptIds, knownTokens(arm, parts, trace.sessionTokens, promptIds)),
        goldLogProbability: sum(score.gold.logProbabilities),
        goldTokens: score.gold.logProbabilities.map((logProbability, index) => ({
          token: goldTexts[index]!,
          logProbability,
        })),
        freeLogProbability: score.own === undefined ? null : sum(score.own) / score.own.length,
        nextTokens: await likeliestTexts(engine, score.next),
        closed: this.#isClosed(response),
        answer: observedAnswer(recorded.generation, response, score.next, engine.info.endTokens),
        memories: shownMemories(
          {
            ...memories,
            ...{ item: this.#item, language: this.#profile.language, reserveTokens },
            windowTokens: engine.info.contextTokens,
          },
          promptInfo,
        ),
        ownMs: recorded.ownMs,
      },
    });
  }

  /** All that is recorded of an observed turn; called once every arm of the item has answered. */
  async complete(arm: ArmTraits, options: CallOptions = {}): Promise<Observed> {
    const seen = this.#seen.get(arm.name)!;
    const reference = this.#referenceOf(arm);
    return {
      ...seen.observed,
      parity: arm.equivalence === 'bitwise' ? await this.#parity(seen, options) : null,
      agreement: reference === undefined ? null : agreementBetween(seen.score.next, reference.score.next),
      goldKl: reference === undefined ? null : goldDivergence(seen, reference),
    };
  }

  /** The text arm that an arm is held against; undefined where it did not answer. */
  #referenceOf({ reference }: ArmTraits): ObservedTurn | undefined {
    const turns = [...this.#seen.values()];
    return turns.find(({ arm }) => (reference === null ? arm.comparison === 'baseline' : arm.name === reference));
  }

  /** The place of the gold answer: behind the item's own prefix, where it has one, else behind the prompt. */
  async #goldPlace({ trace }: ChatResponse): Promise<ScoredTexts['gold']> {
    const gold = { answer: this.#gold, ownPrefix: this.#item.answerPrefix };
    return (await answerPlaces(trace, gold, this.#parts.engine)).own;
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

  /**
   * Against the same tokens evaluated whole, as text: by another arm of the item where one did that, else by this turn
   * itself where it did, else here.
   */
  async #parity(seen: ObservedTurn, options: CallOptions): Promise<Observed['parity']> {
    const key = hashIds(seen.ids);
    const whole = [...this.#seen.values()].filter(({ isWhole, ids }) => isWhole && hashIds(ids) === key);
    const other = whole.find((turn) => turn !== seen) ?? whole[0];
    if (other !== undefined) return compareScores(seen.score.gold, other.score.gold);
    const known = this.#asText.get(key) ?? (await this.#scorer.scoreText(seen.ids, seen.gold, options));
    this.#asText.set(key, known);
    return compareScores(seen.score.gold, known);
  }
}

/**
 * The answer of a turn as its engine generated it, beside what the system says of it.
 * @param next the distribution behind the prompt, from the KV that the turn left
 * @param endTokens at which the engine ends generation
 */
function observedAnswer(
  generation: RecordedGeneration | null,
  { trace }: Pick<ChatResponse, 'trace'>,
  next: NextDistribution,
  endTokens: readonly TokenId[],
): NonNullable<Observed['answer']> {
  if (generation === null) return { sha256: null, asGenerated: false, shortfall: null };
  const { tokens, text } = generation.given;
  return {
    sha256: hashIds(tokens),
    asGenerated: trace.answer.text === text && trace.answer.tokenIds.join() === tokens.join(),
    shortfall: shortfall(tokens[0], next, endTokens),
  };
}

/** ln p of the likeliest token less that of the first; of an answer that ended at once, less that of an end. */
function shortfall(first: TokenId | undefined, next: NextDistribution, endTokens: readonly TokenId[]): number | null {
  const chosen = (first === undefined ? endTokens : [first]).flatMap((token) => probabilityOf(next, token) ?? []);
  const [likeliest] = likeliestTokens(next, 1);
  if (likeliest === undefined || (chosen.length === 0 && next.span === 'top')) return null;
  return logProbabilityOf(likeliest.probability) - logProbabilityOf(Math.max(0, ...chosen));
}

function agreementBetween(own: NextDistribution, reference: NextDistribution): Observed['agreement'] {
  if (own.span !== 'all' || reference.span !== 'all') return null;
  return agreementOf(own.probabilities, reference.probabilities);
}

/** Null where the two do not write the gold answer with the same tokens. */
function goldDivergence(seen: ObservedTurn, reference: ObservedTurn): number | null {
  const [own, theirs] = [seen.score.gold.distributions, reference.score.gold.distributions];
  if (own === undefined || theirs === undefined || firstDifference(seen.gold, reference.gold) !== null) return null;
  return meanDivergence(theirs, own);
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

/** The ids of a session, in the place of unknown ones of an evicting arm's memories those of the prompt. */
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
  const length = Math.max(a.length, b.length);
  for (let index = 0; index < length; index++) {
    if (a[index] !== b[index]) return index;
  }
  return null;
}

function sum(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
