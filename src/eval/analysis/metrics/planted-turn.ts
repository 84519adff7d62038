import { grammars } from '../../../base/grammar.ts';
import type { Language } from '../../../base/language.ts';
import type { AnsweredTurn } from '../../../store/records/turn-record.ts';
import { scoreTurn } from './scores.ts';

/** An answer that was never given, to an item that was never asked: what a metric must say of it is known. */
export interface PlantedAnswer {
  readonly answer: string;
  /** Null of an absent item. */
  readonly gold: string | null;
  readonly language: Language;
  /** Values of other memories of the same relation, and of others, which were shown. */
  readonly rivals?: readonly string[];
  readonly bystanders?: readonly string[];
  readonly superseded?: readonly string[];
  /** The model expects the gold, as its reference does, or neither. */
  readonly sure?: boolean;
}

const none = { prompt: 0, kvResident: 0, evaluated: 0, generated: 0, positions: 0 };
const noTime = {
  retrieve: 0,
  assemble: 0,
  gate: 0,
  kvLoad: 0,
  kvCompute: 0,
  prefill: 0,
  firstToken: 1,
  decode: 0,
  total: 1,
};

/** The log-probabilities of a planted gold of two tokens. */
function probabilities(
  sure: boolean,
): Pick<AnsweredTurn['observed'], 'goldLogProbability' | 'goldTokens' | 'freeLogProbability' | 'agreement' | 'goldKl'> {
  const logProbability = sure ? -0.05 : -5;
  return {
    goldLogProbability: 2 * logProbability,
    goldTokens: [
      { token: 'a', logProbability },
      { token: 'b', logProbability },
    ],
    freeLogProbability: logProbability,
    agreement: { klDivergence: sure ? 0 : 2, topOne: sure },
    goldKl: sure ? 0 : 2,
  };
}

/** A whole turn around a planted answer, scored as every turn is. @param success the metric by which it is right */
export function plantedTurn(planted: PlantedAnswer, success: string): AnsweredTurn {
  const { answer, gold, language, rivals = [], bystanders = [], superseded = [], sure = true } = planted;
  const query = '';
  const { unknownAnswer } = grammars[language];
  const memories = [
    ...(gold === null ? [] : [{ memoryId: 'gold', value: gold, relation: 'asked' }]),
    ...rivals.map((value, index) => ({ memoryId: `rival-${index}`, value, relation: 'asked' })),
    ...bystanders.map((value, index) => ({ memoryId: `other-${index}`, value, relation: `other-${index}` })),
  ].map((memory) => ({ ...memory, content: memory.value }));
  const ids = memories.map(({ memoryId }) => memoryId);
  const evidence = gold === null ? [] : ['gold'];
  return {
    ...{ state: 'answered', itemId: 'planted', userId: 'planted', arm: 'planted', repeat: 0, turn: 0, position: 0 },
    item: {
      ...{ query, gold, acceptedAnswers: [], relation: 'asked', answerPrefix: null, category: 'planted', phrasing: '' },
      ...{
        userKind: '',
        language,
        memories: ids.length,
        evidence: evidence.length,
        evidencePlace: null,
        condition: null,
      },
    },
    given: { retrieved: [], retrieval: null },
    prompt: {
      ...{ originalQuery: query, systemPrompt: '', retrievedContext: '', historyText: '', historyMessages: [] },
      ...{ finalPrompt: '', segments: [] },
      budget: {
        ...{ windowTokens: 0, reserveTokens: 0, fixedTokens: 0, memoryLimitTokens: 0, memoryTokens: 0 },
        ...{ historyTokens: 0, sharedTokens: 0, freeTokens: 0, dropped: [], forced: false, warnings: [] },
      },
    },
    facts: {
      ...{ tokens: 0, prefixTokens: 0, memoryIds: ids, forced: false, droppedMemories: 0, droppedHistory: 0 },
      ...{ memoryTokens: 0, historySha256: '', retrievedMemories: ids.length, keptMemories: ids.length },
    },
    prefill: null,
    account: {
      ...{ cache: 'bypass', evaluated: 0, built: 0, recomputed: 0, gate: 0, resident: 0, positions: 0 },
      sharesPositions: false,
    },
    answer: { text: answer, tokenIds: [], stop: 'end' },
    timings: noTime,
    tokens: none,
    observed: {
      ...{ injectableMemories: 0, injectableTokens: 0, sequenceSha256: '', sequenceTokens: 0, firstForeignToken: null },
      ...{ parity: null, nextTokens: [], closed: false },
      ...probabilities(sure),
    },
    scores: scoreTurn(
      { query, answer: gold, acceptedAnswers: [], evidence, superseded, relation: 'asked', history: [] },
      { answer, storedIds: ids, retrievedIds: ids, keptIds: ids, shown: memories },
      { language, unknownAnswer },
      success,
    ),
  };
}
