import { printable } from '../../report/render/printable.ts';
import { coloured, type Page } from '../../report/render/terminal.ts';
import { padText, wrapText } from '../../report/render/text-width.ts';
import type { Influence } from '../influence-port.ts';
import { kindsOfItem } from '../kinds-of-item.ts';
import type { AnsweredTurn } from '../stored-turn.ts';
import { scoresInWords } from '../turn/answer-part.ts';
import { droppedRule } from '../turn/dropped-rules.ts';
import { funnelNote, funnelOf } from '../turn/funnel.ts';
import { judgementOf } from '../turn/judgement.ts';
import { retrievalFlags, retrievalSummary } from '../turn/memories-part.ts';
import { kindOf } from '../turn/placed-segments.ts';
import { proofOf } from '../turn/proof-part.ts';
import { budgetBar } from './budget-bar.ts';
import { costSection, kvSection } from './cost-sections.ts';
import { influenceSection } from './influence-section.ts';
import { goldSection, nextSection } from './model-sections.ts';
import { beside, type Section } from './section.ts';

/** What is known beside a turn. */
export interface PrintedBeside {
  /** The arm that hands the same memories over as text. */
  readonly rag?: AnsweredTurn | undefined;
  readonly influence?: Influence | undefined;
  /** No data set asked it, so that there is neither a right answer nor evidence to show. */
  readonly unjudged?: true;
}

const funnelMarks = { passed: '✓', failed: '✗', unknown: '·' } as const;
const kindColours = { system: 'gray', memory: 'yellow', history: 'green', query: 'cyan' } as const;

function answerSection(turn: AnsweredTurn, { width }: Page, unjudged: boolean): Section {
  const { answer, promptInfo, scores } = turn;
  const inWords = scoresInWords(turn);
  return {
    heading: `Answer (${judgementOf(turn)})`,
    lines: [
      ...beside('question', promptInfo.originalQuery, 10, width),
      ...beside('answer', answer, 10, width),
      ...(unjudged ? [] : beside('gold', scores.item.gold ?? '(none: abstaining is right)', 10, width)),
      ...(inWords === '' ? [] : beside('scores', inWords, 10, width)),
      ...beside('kind', kindsOfItem(scores.item), 10, width),
    ],
  };
}

function funnelSection(turn: AnsweredTurn, { width }: Page): Section {
  const steps = funnelOf(turn);
  const note = steps === undefined ? 'No evidence to follow: abstaining is right.' : funnelNote(turn);
  const way = (steps ?? []).map(({ words, state }) => {
    return `${funnelMarks[state]} ${words}${state === 'failed' ? ' (failed here)' : ''}`;
  });
  return {
    heading: 'The way of the evidence',
    lines: [
      ...(note === undefined ? [] : wrapText(note, width)),
      ...(way.length === 0 ? [] : wrapText(way.join(' → '), width)),
    ],
  };
}

function sequenceSection({ promptInfo: { segments } }: AnsweredTurn, page: Page): Section {
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

function budgetSection({ promptInfo: { budget } }: AnsweredTurn, { width }: Page): Section {
  const [bar = '', legend = ''] = budgetBar(budget, Math.min(width, 80));
  const { sharedTokens = 0 } = budget;
  const dropped = budget.dropped.flatMap(({ part, id, tokens, rule }) =>
    wrapText(printable(`dropped: ${part} ${id} (${tokens} tokens), ${droppedRule(rule)}`), width),
  );
  return {
    heading: `The window, ${budget.windowTokens} tokens; memories may take ${budget.memoryLimitTokens}`,
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
  const { memories } = turn;
  return {
    heading: `Recalled memories, ${memories.length}`,
    lines: [
      ...wrapText(printable(retrievalSummary(turn)), width),
      ...retrievalFlags(turn).flatMap((flag) => wrapText(printable(flag), width)),
      ...memories.flatMap(({ rank, score, evidence, kept, memoryId, content }) => {
        const marks = `${padText(evidence ? 'evidence' : '', 8)}  ${padText(kept ? 'kept' : 'not kept', 8)}`;
        const name = `${String(rank).padStart(2)}  ${score.toFixed(3).padStart(6)}  ${marks}  `;
        return beside(name, `<${memoryId}> ${content}`, name.length, width);
      }),
    ],
  };
}

function proofSection(turn: AnsweredTurn, { width }: Page): Section {
  return { heading: 'Proof', lines: proofOf(turn).flatMap(([name, words]) => beside(name, words, 14, width)) };
}

/** All that is shown of a turn. */
export function turnSections(turn: AnsweredTurn, page: Page, known: PrintedBeside): Section[] {
  const { rag, influence, unjudged = false } = known;
  return [
    answerSection(turn, page, unjudged),
    ...(unjudged ? [] : [funnelSection(turn, page)]),
    sequenceSection(turn, page),
    kvSection(turn, page),
    budgetSection(turn, page),
    memoriesSection(turn, page),
    ...(influence === undefined ? [] : [influenceSection(influence, page.width)]),
    costSection(turn, page),
    nextSection(turn, rag, page),
    ...(unjudged ? [] : [goldSection(turn, page)]),
    proofSection(turn, page),
  ];
}
