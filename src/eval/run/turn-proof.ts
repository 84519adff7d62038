import type { LanguageModel } from '../../llm/language-model.ts';
import type { ModelSequence } from '../../llm/model-sequence.ts';
import { compareScores, type SequenceScore } from '../../llm/token-probabilities.ts';
import type { BenchSystem } from '../../systems/bench-system.ts';
import type { ChatResponse } from '../../systems/contracts.ts';
import type { Dataset, DatasetItem } from '../dataset/dataset.ts';
import { containsTokens } from '../metrics/normalise.ts';
import type { Arm } from './arms.ts';
import { firstDifference, hashOfIds, likeliest, type TurnEvidence } from './turn-evidence.ts';

/** What proving a turn needs: `scoring` is a sequence that no arm and no meter knows. */
export interface ProofBench {
  readonly model: LanguageModel;
  readonly scoring: ModelSequence;
  readonly dataset: Dataset;
}

/** Gold scoring and parity of the turns of one item, after each turn, outside every clock and meter. */
export class TurnProof {
  readonly #bench: ProofBench;
  readonly #item: DatasetItem;
  readonly #gold: readonly number[];
  readonly #references = new Map<string, SequenceScore>();

  constructor(bench: ProofBench, item: DatasetItem) {
    this.#bench = bench;
    this.#item = item;
    this.#gold = bench.model.tokenizeText(` ${item.answer ?? bench.dataset.unknownAnswer}`);
  }

  /** Replays the last turn of a system and scores the gold answer where its generation began. */
  async of(arm: Arm, system: BenchSystem, response: ChatResponse): Promise<TurnEvidence> {
    const { model, scoring } = this.#bench;
    const own = response.promptInfo.segments.flatMap((segment) => segment.tokenIds);
    const readBack = response.metadata['sequenceTokenIds'] as readonly number[];
    const score = await scoring.score(await system.replay(scoring), this.#gold);
    return {
      reuse: response.metadata['reuse'] as TurnEvidence['reuse'],
      expectedEvaluatedTokens: response.metadata['expectedEvaluatedTokens'] as number,
      sequenceSha256: hashOfIds(readBack),
      sequenceTokens: readBack.length,
      firstForeignToken: firstDifference(own, readBack),
      goldLogProbability: score.logProbabilities.reduce((sum, value) => sum + value, 0),
      parity: arm.exact ? compareScores(score, await this.#reference(own)) : null,
      nextTokens: likeliest(model, score.nextProbabilities),
      closed: this.#isClosed(response),
    };
  }

  #isClosed(response: ChatResponse): boolean {
    const { answer, acceptedAnswers, query, history } = this.#item;
    const texts = [
      query,
      response.promptInfo.systemPrompt,
      ...history.map((message) => message.content),
      ...response.memoriesUsed.map((memory) => memory.content),
    ];
    const { language } = this.#bench.dataset;
    return (
      answer !== null &&
      ![answer, ...acceptedAnswers].some((gold) => texts.some((text) => containsTokens(text, gold, language)))
    );
  }

  /** The same token sequence evaluated whole, as text: the measure of the exact arms. */
  async #reference(ids: readonly number[]): Promise<SequenceScore> {
    const key = hashOfIds(ids);
    const known = this.#references.get(key);
    if (known !== undefined) return known;
    await this.#bench.scoring.clear();
    const reference = await this.#bench.scoring.score(ids, this.#gold);
    this.#references.set(key, reference);
    return reference;
  }
}
