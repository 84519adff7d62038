import type { LanguageModel } from '../../llm/language-model.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import { compareScores, type SequenceScore } from '../../llm/token-probabilities.ts';
import type { BenchSystem } from '../../systems/bench-system.ts';
import type { ChatResponse } from '../../systems/contracts.ts';
import type { AheadWork } from '../../systems/hand-over.ts';
import { isPreference } from '../../systems/prompt/placement.ts';
import type { DatasetItem } from '../dataset/dataset.ts';
import { containsTokens } from '../metrics/normalise.ts';
import type { UserSpeech } from '../metrics/user-speech.ts';
import type { Arm } from './arms.ts';
import { firstDifference, hashOfIds, likeliest, type TurnEvidence } from './turn-evidence.ts';

/** What proving a turn needs: `scoring` is a sequence that no arm and no meter knows. */
export interface ProofBench {
  readonly model: LanguageModel;
  readonly scoring: ModelSequence;
  readonly settings: { readonly scoresAnswers: boolean };
}

/** What a turn proves before it is known what the other arms of its item said. */
export interface ProvenTurn {
  readonly evidence: Omit<TurnEvidence, 'agreement'>;
  /** By token id. */
  readonly nextProbabilities: Float64Array;
}

type Account = Pick<
  TurnEvidence,
  'reuse' | 'builtTokens' | 'linkTokens' | 'gateTokens' | 'sharesPositions' | 'aheadTokens' | 'aheadMs'
>;

/** What the hand-over says of its turn. */
function accountOf({ metadata }: ChatResponse): Account {
  const { reuse, builtTokens, linkTokens, gateTokens, sharesPositions } = metadata as unknown as Account;
  const ahead = metadata['ahead'] as AheadWork | undefined;
  return {
    ...{ reuse, builtTokens, linkTokens, gateTokens, sharesPositions },
    ...(ahead === undefined ? {} : { aheadTokens: ahead.tokens, aheadMs: ahead.ms }),
  };
}

/** What an arm was to inject, by the prompt and not by its own account. */
function injectable(
  { injects }: Arm,
  { memoriesUsed, promptInfo }: ChatResponse,
): Pick<TurnEvidence, 'injectableMemories' | 'injectableTokens'> {
  if (injects === 'nothing') return { injectableMemories: 0, injectableTokens: 0 };
  const wanted = injects === 'memories' ? memoriesUsed : memoriesUsed.filter(isPreference);
  const ids = new Set(wanted.map((memory) => memory.memoryId));
  const { segments } = promptInfo;
  const last = segments.findLastIndex(({ memoryId }) => memoryId !== undefined && ids.has(memoryId));
  const injectableTokens = segments.slice(0, last + 1).reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  return { injectableMemories: wanted.length, injectableTokens };
}

/** Gold scoring and parity of the turns of one item, after each turn, outside every clock and meter. */
export class TurnProof {
  readonly #bench: ProofBench;
  readonly #item: DatasetItem;
  readonly #speech: UserSpeech;
  readonly #gold: string;
  readonly #references = new Map<string, SequenceScore>();

  /** @param speech of the user who asks */
  constructor(bench: ProofBench, item: DatasetItem, speech: UserSpeech) {
    this.#bench = bench;
    this.#item = item;
    this.#speech = speech;
    this.#gold = item.answer ?? speech.unknownAnswer;
  }

  /** Replays the last turn of a system and scores the gold answer where its generation began. */
  async of(arm: Arm, system: BenchSystem, response: ChatResponse): Promise<ProvenTurn> {
    const { model, scoring } = this.#bench;
    const own = response.promptInfo.segments.flatMap((segment) => segment.tokenIds);
    const readBack = response.metadata['sequenceTokenIds'] as readonly number[];
    const gold = model.tokenizeText(`${response.metadata['answerLead'] as string}${this.#gold}`);
    const score = await scoring.score(await system.replay(scoring), gold);
    const evidence = {
      ...accountOf(response),
      ...injectable(arm, response),
      expectedEvaluatedTokens: response.metadata['expectedEvaluatedTokens'] as number,
      sequenceSha256: hashOfIds(readBack),
      sequenceTokens: readBack.length,
      firstForeignToken: firstDifference(own, readBack),
      goldLogProbability: score.logProbabilities.reduce((sum, value) => sum + value, 0),
      goldTokens: score.logProbabilities.map((logProbability, index) => ({
        token: model.detokenize([gold[index]!]),
        logProbability,
      })),
      freeLogProbability: await this.#freeLogProbability(system, response),
      parity: arm.claims === 'bits' ? compareScores(score, await this.#reference(own, gold)) : null,
      nextTokens: likeliest(model, score.nextProbabilities),
      closed: this.#isClosed(response),
    };
    return { evidence, nextProbabilities: score.nextProbabilities };
  }

  /** How fluent the system's own answer is before the same K/V, a token; null for an answer without one. */
  async #freeLogProbability(system: BenchSystem, { metadata }: ChatResponse): Promise<number | null> {
    const { scoring, settings } = this.#bench;
    const answer = metadata['answerTokenIds'] as readonly number[];
    if (!settings.scoresAnswers || answer.length === 0) return null;
    const { logProbabilities } = await scoring.score(await system.replay(scoring), answer);
    return logProbabilities.reduce((sum, value) => sum + value, 0) / answer.length;
  }

  #isClosed(response: ChatResponse): boolean {
    const { answer, acceptedAnswers, query, history } = this.#item;
    const texts = [
      query,
      response.promptInfo.systemPrompt,
      ...history.map((message) => message.content),
      ...response.memoriesUsed.map((memory) => memory.content),
    ];
    const { language } = this.#speech;
    return (
      answer !== null &&
      ![answer, ...acceptedAnswers].some((gold) => texts.some((text) => containsTokens(text, gold, language)))
    );
  }

  /** The same token sequence evaluated whole, as text: the measure of the exact arms. */
  async #reference(ids: readonly number[], gold: readonly number[]): Promise<SequenceScore> {
    const key = hashOfIds(ids);
    const known = this.#references.get(key);
    if (known !== undefined) return known;
    await this.#bench.scoring.clear();
    const reference = await this.#bench.scoring.score(ids, gold);
    this.#references.set(key, reference);
    return reference;
  }
}
