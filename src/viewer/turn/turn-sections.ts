import { formatNumber } from '../../render/format-number.ts';
import type { Content, Phrase, Section, SectionBlock, Step } from '../../render/section.ts';
import { barCell, sectionColumns, textBlocks } from '../../render/section.ts';
import type { AttributionRecord } from '../../store/records/attribution-record.ts';
import { type FailedTurn, funnelStages, type ItemRecord } from '../../store/records/turn-record.ts';
import type { AnsweredDisplayTurn } from '../turn-scores-for-display.ts';
import { costSection, kvSection } from './kv-and-cost-sections.ts';
import { budgetSection, memoriesSection, sequenceSection } from './prompt-sections.ts';

const MAX_BYTES = 2000;
const MAX_GOLD_TOKENS = 60;
const MAX_MEMORIES = 40;

export interface TurnContext {
  /** The turn of the arm that gives the same memories as text. */
  readonly rag?: AnsweredDisplayTurn | undefined;
  readonly attribution?: AttributionRecord | undefined;
  readonly pieces?: ReadonlyMap<number, string>;
  /** The question is not from a data set, so gold answer and evidence are not shown. */
  readonly unjudged?: true;
}

/** All sections of a turn in order, for its page and for the terminal. */
export function turnSections(turn: AnsweredDisplayTurn, context: TurnContext = {}): Section[] {
  const { rag, attribution, pieces = new Map<number, string>(), unjudged = false } = context;
  return [
    answerSection(turn, unjudged),
    sequenceSection(turn, pieces),
    kvSection(turn),
    budgetSection(turn),
    memoriesSection(turn),
    ...(attribution === undefined ? [] : [attributionSection(attribution)]),
    costSection(turn),
    nextSection(turn, rag),
    ...(unjudged ? [] : [goldSection(turn)]),
    checksSection(turn),
  ];
}

function answerSection(turn: AnsweredDisplayTurn, unjudged: boolean): Section {
  const { answer, item, prompt } = turn;
  const { prefix, thoughtTokens } = answer;
  const most = MAX_BYTES;
  const thought = ` (after ${thoughtTokens ?? 0} tokens of thought, which are not shown)`;
  const given: Phrase[] = [
    ...(prefix === undefined ? [] : [{ text: prefix, most, look: 'soft', title: 'given to the model' } as const]),
    answer.text === '' ? { text: '(empty)', look: 'soft' } : { text: answer.text, most, look: 'strong' },
    ...(thoughtTokens === undefined ? [] : [{ text: thought, look: 'soft' } as const]),
  ];
  const rows: (readonly [string, Content])[] = [
    ['question', { text: prompt.originalQuery, most }],
    ['answer', given],
    ['gold', unjudged ? '' : goldContent(item.gold, most)],
    ['verdict', verdict(turn)],
    ['scores', scoresText(turn)],
    ['kind', unjudged ? '' : itemKinds(item)],
  ];
  return {
    id: 'answer',
    heading: 'Answer',
    blocks: [
      { kind: 'pairs', rows: rows.filter(([, content]) => content !== '') },
      ...(unjudged ? [] : funnelBlocks(turn)),
    ],
  };
}

/** A gold answer; without one, abstaining is right. */
export function goldContent(gold: string | null, most: number): Phrase {
  return gold === null ? { text: 'none: abstaining is right', look: 'soft' } : { text: gold, most };
}

function verdict({ scores, unknownQuality }: Pick<AnsweredDisplayTurn, 'scores' | 'unknownQuality'>): Phrase {
  if (unknownQuality !== null) return { text: `not judged: ${unknownQuality}`, look: 'soft' };
  if (scores.taskSuccess === 1) return { text: '✓ right', look: 'good' };
  const stage = scores.failedStage === null ? '' : `, failed at: ${scores.failedStage}`;
  return { text: `✗ wrong: ${scores.wrongClass ?? 'not classified'}${stage}`, look: 'bad' };
}

/** The scores of an answer: `contains 1 · token F1 0.67`. */
function scoresText({ shownScores }: Pick<AnsweredDisplayTurn, 'shownScores'>): string {
  return shownScores
    .map(({ label, unit, value }) =>
      unit === '%'
        ? `${label} ${formatNumber(value, value % 1 === 0 ? 0 : 2)}`
        : `${label} ${formatNumber(value, 3)} ${unit}`,
    )
    .join(' · ');
}

/** The error of a failed turn: `context-overflow: 600 tokens`. */
export function failureText({ error: { code, message } }: FailedTurn): string {
  return code === null ? message : `${code}: ${message}`;
}

/** The kinds that the data set gives a question: `updated · held-out · recurring · zh`. */
export function itemKinds({ category, phrasing, userKind, language }: ItemRecord): string {
  return [category, phrasing, userKind, language].filter((kind) => kind !== '').join(' · ');
}

function funnelBlocks({ item: { gold, evidence }, scores }: AnsweredDisplayTurn): SectionBlock[] {
  const { passedStages, failedStage } = scores;
  const heading: SectionBlock = { kind: 'heading', id: 'funnel', text: 'Evidence funnel' };
  if (gold === null) return [heading, ...textBlocks('No evidence: abstaining is right.', 'soft')];
  if (passedStages.length === 0 && failedStage === null) {
    return [heading, ...textBlocks('The data do not name the evidence of this item.', 'soft')];
  }
  const steps = funnelStages.map((stage): Step => {
    const state = passedStages.includes(stage) ? 'passed' : stage === failedStage ? 'failed' : 'unknown';
    return { name: stage === 'sequence' ? 'in the sequence' : stage, state };
  });
  const note = evidence === 0 ? 'No memory is needed: the conversation holds the answer.' : undefined;
  return [heading, ...textBlocks(note, 'soft'), { kind: 'steps', steps }];
}

const quotedToken = (text: string): Phrase => ({ text: `"${text}"`, look: 'mono' });

/** A probability as text: `0.912`, `3e-5`, or `–` if it was not stored. */
function probabilityText(value: number | undefined): string {
  if (value === undefined) return '–';
  return value >= 0.0005 ? value.toFixed(3) : value.toExponential(0);
}

function nextSection({ arm, observed }: AnsweredDisplayTurn, other?: AnsweredDisplayTurn): Section {
  const { agreement } = observed;
  const likeliest = agreement?.topOne === true ? 'the same likeliest token' : 'another likeliest token';
  const divergence = agreement?.klDivergence === 0 ? '0' : agreement?.klDivergence.toExponential(1);
  const text = agreement === null ? undefined : `Against the reference: ${likeliest}, KL divergence ${divergence}.`;
  const cell = (value: number | undefined, look: string) => barCell(probabilityText(value), look, value ?? 0);
  const rows = pairTokens(observed.nextTokens, other?.observed.nextTokens ?? []);
  const arms = other === undefined ? [arm] : [arm, other.arm];
  return {
    id: 'next',
    heading: 'Next token',
    blocks: [
      ...textBlocks(text),
      {
        kind: 'table',
        what: 'next tokens',
        rowHeading: 'token',
        columns: arms.map((name) => ({ heading: `${name}, p`, kind: 'bar' })),
        rows: rows.map(({ token, here, there }) => ({
          label: quotedToken(token),
          cells: [cell(here, 'here'), cell(there, 'there')].slice(0, arms.length),
        })),
      },
    ],
  };
}

type Likely = AnsweredDisplayTurn['observed']['nextTokens'];

/** Pairs the likeliest next tokens of two arms in the order of the first. Tokens with equal text are paired in order. */
export function pairTokens(here: Likely, there: Likely) {
  const left = [...there];
  const rows = here.map(({ token, probability }) => {
    const index = left.findIndex((other) => other.token === token);
    const [other] = index === -1 ? [] : left.splice(index, 1);
    return { token, here: probability, there: other?.probability };
  });
  return [...rows, ...left.map(({ token, probability }) => ({ token, here: undefined, there: probability }))];
}

function goldSection({ observed: { goldTokens, goldLogProbability } }: AnsweredDisplayTurn): Section {
  const [id, heading] = ['gold', 'The gold answer, token by token'];
  if (goldLogProbability === null) return { id, heading, blocks: textBlocks('Not judged.', 'soft') };
  const sum = formatNumber(goldLogProbability, 3);
  return {
    id,
    heading,
    blocks: [
      { kind: 'text', content: ['ln p of the gold answer: ', { text: sum, look: 'strong' }] },
      {
        kind: 'table',
        what: 'gold tokens',
        rowHeading: 'token',
        columns: [{ heading: 'ln p', kind: 'bar' }],
        rows: goldTokens.map(({ token, logProbability }) => ({
          label: quotedToken(token),
          cells: [barCell(formatNumber(logProbability, 3), 'here', Math.exp(logProbability))],
        })),
        most: MAX_GOLD_TOKENS,
      },
    ],
  };
}

/** What the bench observed of a turn itself, as the basis of the run's checks. */
function checksSection({ item, observed, account }: AnsweredDisplayTurn): Section {
  const { firstForeignToken, parity, sequenceSha256, freeLogProbability, closed } = observed;
  const foreign = account.sharesPositions
    ? 'one id per position, since blocks share positions from token'
    : 'other ids than the prompt, from token';
  const identity = firstForeignToken === null ? 'the ids of the prompt' : `${foreign} ${firstForeignToken}`;
  const numerical =
    parity?.bitwiseEqual === true
      ? 'bit-identical'
      : `up to ${parity?.largestDifference.toExponential(1)} in ln p off the text`;
  const own = `mean ln p per token ${formatNumber(freeLogProbability ?? 0, 3)}`;
  const shown = closed ? 'yes: the prompt does not contain the gold' : 'no: the prompt contains the gold';
  return {
    id: 'checks',
    heading: 'Checks',
    blocks: [
      {
        kind: 'pairs',
        rows: [
          ['read back', `${identity} (sha-256 ${sequenceSha256.slice(0, 12)}…)`],
          ...(parity === null ? [] : ([['against text', numerical]] as const)),
          ...(freeLogProbability === null ? [] : ([['own answer', own]] as const)),
          ...(item.gold === null ? [] : ([['closed item', shown]] as const)),
        ],
      },
    ],
  };
}

/**
 * Leave-one-out attribution: for each memory, ln p of the answer without it, and the difference to ln p with all memories.
 * The bar extends from the middle to the right if the memory made the answer likelier.
 */
function attributionSection({ method, logProbability, memories, modelMs }: AttributionRecord): Section {
  const differences = memories.map((memory) => logProbability - memory.logProbability);
  const largest = Math.max(...differences.map(Math.abs));
  const unit = method === 'blocks' ? 'KV block' : 'line of the text';
  const middle = { look: 'axis', start: 0.499, share: 0.002 };
  return {
    id: 'attribution',
    heading: `Leave-one-out attribution, by ${unit}`,
    blocks: [
      ...textBlocks(`ln p of the answer with all memories: ${formatNumber(logProbability, 3)}`),
      {
        kind: 'table',
        what: 'attributions',
        rowHeading: 'memory',
        columns: sectionColumns({ 'ln p without it': 'number', difference: 'bar' }),
        rows: memories.map(({ memoryId, logProbability: value }, index) => {
          const difference = differences[index]!;
          const share = largest === 0 ? 0 : Math.abs(difference) / largest / 2;
          const [look, start] = difference >= 0 ? ['helped', 0.5] : ['harmed', 0.5 - share];
          return {
            label: memoryId,
            cells: [
              { content: formatNumber(value, 3) },
              {
                content: `${difference > 0 ? '+' : ''}${formatNumber(difference, 3)}`,
                bar: [{ look, start, share }, middle],
              },
            ],
          };
        }),
        most: MAX_MEMORIES,
      },
      {
        kind: 'note',
        content: `Above 0, the memory made the answer likelier. Time in the model: ${formatNumber(modelMs, 0)} ms.`,
      },
    ],
  };
}
