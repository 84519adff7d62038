import { printable } from '../../render/printable.ts';
import { coloured, type Page } from '../../render/terminal.ts';
import { padText, wrapText } from '../../render/text-width.ts';
import type { AttributionRecord } from '../../store/records/attribution-record.ts';
import type { Budget } from '../../store/records/prompt-info.ts';
import { cutText, cutWords } from '../cut-text.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { judgementOf, kindsOfItem, scoresInWords, thoughtInWords } from '../turn/answer-in-words.ts';
import { budgetParts, droppedRule, droppedSize } from '../turn/budget-part.ts';
import { checksOf } from '../turn/checks-part.ts';
import { funnelNote, funnelOf } from '../turn/funnel.ts';
import { retrievalFlags, retrievalSummary } from '../turn/memories-part.ts';
import { kindOf } from '../turn/placed-segments.ts';
import { attributionSection } from './attribution-section.ts';
import { costSection, kvSection } from './cost-sections.ts';
import { goldSection, nextSection } from './model-sections.ts';
import { beside, type Section } from './section.ts';

/** Of a summary: a terminal shows its beginning. */
const MOST_SUMMARY_CHARACTERS = 4000;

/** Facts about a turn that its own record does not hold. */
export interface TurnContext {
  /** The turn of the arm that gives the same memories as text. */
  readonly rag?: AnsweredTurn | undefined;
  readonly attribution?: AttributionRecord | undefined;
  /** The question is not from a data set, so that neither gold answer nor evidence is shown. */
  readonly unjudged?: true;
}

const funnelMarks = { passed: '✓', failed: '✗', unknown: '·' } as const;
const kindColours = { system: 'gray', memory: 'yellow', history: 'green', query: 'cyan' } as const;

function answerSection(turn: AnsweredTurn, { width }: Page, unjudged: boolean): Section {
  const { answer, prompt, item } = turn;
  const inWords = scoresInWords(turn);
  const thought = thoughtInWords(answer);
  return {
    heading: `Answer (${judgementOf(turn)})`,
    lines: [
      ...beside('question', prompt.originalQuery, 10, width),
      ...beside(
        'answer',
        `${answer.prefix === undefined ? '' : `[${answer.prefix.trimEnd()}] `}${answer.text}`,
        10,
        width,
      ),
      ...(thought === undefined ? [] : beside('', thought, 10, width)),
      ...(unjudged ? [] : beside('gold', item.gold ?? '(none: abstaining is right)', 10, width)),
      ...(inWords === '' ? [] : beside('scores', inWords, 10, width)),
      ...(unjudged ? [] : beside('kind', kindsOfItem(item), 10, width)),
    ],
  };
}

function funnelSection(turn: AnsweredTurn, { width }: Page): Section {
  const steps = funnelOf(turn);
  const note = funnelNote(turn);
  const stages = (steps ?? []).map(({ words, state }) => {
    return `${funnelMarks[state]} ${words}${state === 'failed' ? ' (failed here)' : ''}`;
  });
  return {
    heading: 'Evidence funnel',
    lines: [
      ...(note === undefined ? [] : wrapText(note, width)),
      ...(stages.length === 0 ? [] : wrapText(stages.join(' → '), width)),
    ],
  };
}

function sequenceSection({ prompt: { segments } }: AnsweredTurn, page: Page): Section {
  const tokens = segments.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  return {
    heading: `The final sequence, ${tokens} tokens`,
    lines: segments.flatMap(({ role, text, memoryId, tokenIds, origin }) => {
      const counts = ` ${String(tokenIds.length).padStart(4)}  ${padText(origin, 9)}  `;
      const name = coloured(padText(role, 14), kindColours[kindOf(role)], page) + counts;
      const label = memoryId === undefined ? text : `<${memoryId}> ${text}`;
      return beside(name, label, 14 + counts.length, page.width);
    }),
  };
}

/** Divides columns by weight; each weight above 0 gets at least one. */
function shared(weights: readonly number[], columns: number): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const counts = weights.map((weight) => (weight > 0 ? Math.max(1, Math.round((weight / total) * columns)) : 0));
  const excess = counts.reduce((sum, count) => sum + count, 0) - columns;
  counts[counts.indexOf(Math.max(...counts))]! -= excess;
  return counts;
}

/** The use of the context window as a bar of `width` columns, and its legend. */
export function budgetBar(budget: Budget, width: number): readonly [bar: string, legend: string] {
  const weights = budgetParts.map(({ key }) => Math.max(0, budget[key]));
  const counts = shared(weights, width);
  const legend = budgetParts.map(({ mark, name }, index) => `${mark} ${name} ${weights[index]!}`);
  return [budgetParts.map(({ mark }, index) => mark.repeat(counts[index]!)).join(''), legend.join('  ')];
}

function budgetSection({ prompt: { budget } }: AnsweredTurn, { width }: Page): Section {
  const [bar, legend] = budgetBar(budget, Math.min(width, 80));
  const { sharedTokens } = budget;
  const dropped = budget.dropped.flatMap((left) =>
    wrapText(printable(`dropped: ${left.part} ${left.id} (${droppedSize(left)}), ${droppedRule(left.rule)}`), width),
  );
  return {
    heading: `Context window, ${budget.windowTokens} tokens; memories may take ${budget.memoryLimitTokens}`,
    lines: [
      bar,
      ...wrapText(legend, width),
      ...(sharedTokens > 0 ? wrapText(`${sharedTokens} tokens share a position with another`, width) : []),
      ...dropped,
      ...budget.warnings.flatMap((warning) => wrapText(printable(`warning: ${warning}`), width)),
    ],
  };
}

function memoriesSection(turn: AnsweredTurn, { width }: Page): Section {
  const { retrieved, summary = '' } = turn.given;
  return {
    heading: `Retrieved memories, ${retrieved.length}`,
    lines: [
      ...wrapText(printable(retrievalSummary(turn)), width),
      ...retrievalFlags(turn).flatMap((flag) => wrapText(printable(flag), width)),
      ...retrieved.flatMap(({ rank, score, evidence, kept, memoryId, content }) => {
        const marks = `${padText(evidence ? 'evidence' : '', 8)}  ${padText(kept ? 'kept' : 'not kept', 8)}`;
        const name = `${String(rank).padStart(2)}  ${score.toFixed(3).padStart(6)}  ${marks}  `;
        return beside(name, `<${memoryId}> ${content}`, name.length, width);
      }),
      ...summaryLines(summary, width),
    ],
  };
}

/** The summary that the retriever made, line by line; nothing for an empty one. */
function summaryLines(summary: string, width: number): string[] {
  if (summary === '') return [];
  const { text, left } = cutText(summary.trimEnd(), MOST_SUMMARY_CHARACTERS);
  const lines = [...text.split('\n'), ...(left === 0 ? [] : [cutWords(left)])];
  return [
    '',
    'Summary by the retriever (history_context):',
    ...lines.flatMap((line) => wrapText(printable(line), width)),
  ];
}

function checksSection(turn: AnsweredTurn, { width }: Page): Section {
  return { heading: 'Checks', lines: checksOf(turn).flatMap(([name, words]) => beside(name, words, 14, width)) };
}

/** All sections of a printed turn, in order. */
export function turnSections(turn: AnsweredTurn, page: Page, context: TurnContext): Section[] {
  const { rag, attribution, unjudged = false } = context;
  return [
    answerSection(turn, page, unjudged),
    ...(unjudged ? [] : [funnelSection(turn, page)]),
    sequenceSection(turn, page),
    kvSection(turn, page),
    budgetSection(turn, page),
    memoriesSection(turn, page),
    ...(attribution === undefined ? [] : [attributionSection(attribution, page.width)]),
    costSection(turn, page),
    nextSection(turn, rag, page),
    ...(unjudged ? [] : [goldSection(turn, page)]),
    checksSection(turn, page),
  ];
}
