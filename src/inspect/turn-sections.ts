import { printable } from '../report/render/printable.ts';
import { padText, wrapText } from '../report/render/text-width.ts';
import { budgetBar } from './budget-bar.ts';
import type { AnsweredTurn } from './stored-turn.ts';

/** A part of what is shown of a turn: a heading and lines within the width. */
export interface Section {
  readonly heading: string;
  readonly lines: readonly string[];
}

const rules: Readonly<Record<string, string>> = {
  'memory-budget': 'the memories before it filled their part of the budget',
  'history-budget': 'newer messages filled the rest of the budget',
  'forced-truncation': 'the whole was too long: the query alone was kept',
};

/** A name and a text beside it, its further lines indented below. */
function beside(name: string, text: string, indent: number, width: number): string[] {
  const lines = wrapText(printable(text), Math.max(16, width - indent));
  return lines.map((line, index) => padText(index === 0 ? name : '', indent) + line);
}

/** Whether the answer is right, and if not, in which way and where the evidence was lost. */
function judgementOf({ scores, unknownQuality }: AnsweredTurn): string {
  if (unknownQuality !== null) return `not judged: ${unknownQuality}`;
  if (scores.taskSuccess === 1) return 'right';
  const stage = scores.failedStage === null ? '' : `, failed at: ${scores.failedStage}`;
  return `wrong: ${scores.wrongClass ?? 'not classified'}${stage}`;
}

function answerSection(turn: AnsweredTurn, width: number): Section {
  const { answer, promptInfo, scores } = turn;
  const kinds = [scores.item.category, scores.item.phrasing, scores.item.userKind];
  return {
    heading: `Answer (${judgementOf(turn)})`,
    lines: [
      ...beside('question', promptInfo.originalQuery, 10, width),
      ...beside('answer', answer, 10, width),
      ...beside('gold', scores.item.gold ?? '(none: abstaining is right)', 10, width),
      ...beside('kind', kinds.filter((kind) => kind !== '').join(' · '), 10, width),
    ],
  };
}

function sequenceSection({ promptInfo: { segments } }: AnsweredTurn, width: number): Section {
  const tokens = segments.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  return {
    heading: `The final sequence, ${tokens} tokens`,
    lines: segments.flatMap(({ role, text, memoryId, tokenIds, origin }) => {
      const name = `${padText(role, 14)} ${String(tokenIds.length).padStart(4)}  ${padText(origin, 9)}  `;
      const label = memoryId === undefined ? text : `<${memoryId}> ${text}`;
      return beside(name, label, name.length, width);
    }),
  };
}

function budgetSection({ promptInfo: { budget } }: AnsweredTurn, width: number): Section {
  const [bar = '', legend = ''] = budgetBar(budget, Math.min(width, 80));
  const dropped = budget.dropped.flatMap(({ part, id, tokens, rule }) => {
    const why = rules[rule] ?? rule;
    return wrapText(printable(`dropped: ${part} ${id} (${tokens} tokens), ${rule}: ${why}`), width);
  });
  return {
    heading: `The window, ${budget.windowTokens} tokens; memories may take ${budget.memoryLimitTokens}`,
    lines: [
      bar,
      ...wrapText(legend, width),
      ...dropped,
      ...budget.warnings.flatMap((warning) => wrapText(printable(`warning: ${warning}`), width)),
    ],
  };
}

function memoriesSection({ memories }: AnsweredTurn, width: number): Section {
  return {
    heading: `Recalled memories, ${memories.length}`,
    lines: memories.flatMap(({ rank, score, evidence, kept, memoryId, content }) => {
      const marks = `${padText(evidence ? 'evidence' : '', 8)}  ${padText(kept ? 'kept' : 'not kept', 8)}`;
      const name = `${String(rank).padStart(2)}  ${score.toFixed(3).padStart(6)}  ${marks}  `;
      return beside(name, `<${memoryId}> ${content}`, name.length, width);
    }),
  };
}

function costSection({ tokens, timings, scores: { evidence } }: AnsweredTurn, width: number): Section {
  const expected = evidence.expectedEvaluatedTokens;
  const counts = [
    `${tokens.prompt} prompt`,
    `${tokens.kvResident} K/V resident`,
    `${tokens.evaluated} evaluated${expected === tokens.evaluated ? '' : ` (${expected} expected)`}`,
    `${tokens.generated} generated`,
    `${tokens.positions} positions`,
  ];
  const times = Object.entries(timings).map(([name, ms]) => `${name} ${ms.toFixed(1)}`);
  const reuse = { new: 'K/V built in this turn', seen: 'K/V found', none: 'no K/V kept' }[evidence.reuse];
  return {
    heading: `Cost (${reuse})`,
    lines: [
      ...beside('tokens', counts.join(' · '), 10, width),
      ...beside('ms', times.map(printable).join(' · '), 10, width),
    ],
  };
}

function evidenceSection({ scores: { evidence } }: AnsweredTurn, width: number): Section {
  const { firstForeignToken, parity, nextTokens, goldLogProbability } = evidence;
  const foreign = evidence.sharesPositions
    ? `one id a position, since blocks share positions from token`
    : 'other ids than the prompt, from token';
  const identity = firstForeignToken === null ? 'the ids of the prompt' : `${foreign} ${firstForeignToken}`;
  const equality =
    parity === null
      ? []
      : [
          parity.bitwiseEqual
            ? 'bit-identical to the text'
            : `up to ${parity.largestDifference.toExponential(1)} in ln p off the text`,
        ];
  const likely = nextTokens
    .slice(0, 5)
    .map(({ token, probability }) => `${JSON.stringify(token)} ${probability.toFixed(3)}`);
  return {
    heading: 'Evidence',
    lines: [
      ...beside(
        'read back',
        [`${identity} (sha-256 ${evidence.sequenceSha256.slice(0, 12)}…)`, ...equality].join('; '),
        10,
        width,
      ),
      ...(goldLogProbability === null ? [] : beside('ln p gold', goldLogProbability.toFixed(3), 10, width)),
      ...beside('next', likely.join('  '), 10, width),
    ],
  };
}

/** All that is shown of a turn. */
export function turnSections(turn: AnsweredTurn, width: number): Section[] {
  return [answerSection, sequenceSection, budgetSection, memoriesSection, costSection, evidenceSection].map((section) =>
    section(turn, width),
  );
}
