import { formatNumber } from '../../render/format-number.ts';
import { type Content, type Section, type SectionBlock, sectionColumns, textBlocks } from '../../render/section.ts';
import type { DroppedPart } from '../../store/records/prompt-info.ts';
import type { AnsweredDisplayTurn } from '../turn-scores-for-display.ts';
import { segmentsWithPositions, segmentKind, segmentName, segmentPlace } from './segment-positions.ts';
import { tokenSpans } from './token-spans.ts';

const MAX_DROPPED = 40;
const MAX_MEMORIES = 40;
const MAX_MEMORY_BYTES = 1200;
const MAX_MEMORIES_BYTES = 20_000;

const droppedRules: Readonly<Record<DroppedPart['rule'], string>> = {
  'memory-budget': 'higher-ranked memories filled the budget for memories',
  'history-budget': 'newer messages filled the rest of the budget',
  'history-turns': 'older than the turns that --history-turns keeps',
  'forced-truncation': 'the prompt was too long: only the query was kept',
};

/** The final sequence by segment. @param pieces texts of its tokens by id; may be empty */
export function sequenceSection(turn: AnsweredDisplayTurn, pieces: ReadonlyMap<number, string>): Section {
  const segments = segmentsWithPositions(turn);
  const tokens = segments.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  return {
    id: 'sequence',
    heading: `The final sequence, ${tokens} tokens`,
    blocks: [
      {
        kind: 'segments',
        segments: segments.map((segment) => ({
          name: segmentName(segment),
          kind: segmentKind(segment.role),
          injected: segment.origin === 'injected',
          tokens: segment.tokenIds.length,
          place: segmentPlace(segment),
          text: segment.text,
          spans: () => tokenSpans(segment.text, segment.tokenIds, pieces),
        })),
        hasSpans: pieces.size > 0,
      },
    ],
  };
}

export function budgetSection({ prompt: { budget } }: AnsweredDisplayTurn): Section {
  const { dropped, warnings, sharedTokens, memoryLimitTokens, windowTokens, forced } = budget;
  const parts = [
    { name: 'fixed', look: 'system', mark: '█', weight: budget.fixedTokens },
    { name: 'memories', look: 'memory', mark: '▓', weight: budget.memoryTokens },
    { name: 'history', look: 'history', mark: '▒', weight: budget.historyTokens },
    { name: 'free', look: 'free', mark: '·', weight: Math.max(0, budget.freeTokens) },
    { name: 'reserve', look: 'reserve', mark: '░', weight: budget.reserveTokens },
  ];
  const shared = sharedTokens > 0 ? ` ${sharedTokens} tokens share a position with another.` : '';
  const describe = ({ part, id, tokens, rule }: DroppedPart): Content => [
    { text: `${part} ${id}`, look: 'strong' },
    `, ${tokens === null ? 'not counted' : `${tokens} tokens`}, ${rule}: ${droppedRules[rule]}`,
  ];
  return {
    id: 'budget',
    heading: `Context window, ${windowTokens} tokens`,
    blocks: [
      { kind: 'shares', parts },
      ...textBlocks(`Memories may take ${memoryLimitTokens} tokens.${shared}`, 'soft'),
      ...(forced ? textBlocks('Forced truncation: only the query was kept.', 'bad') : []),
      ...warnings.flatMap((warning) => textBlocks(`Warning: ${warning}`, 'bad')),
      { kind: 'heading', id: 'dropped', text: 'Dropped' },
      dropped.length === 0
        ? { kind: 'text', content: 'Nothing was dropped.', look: 'soft' }
        : { kind: 'list', what: 'were dropped', most: MAX_DROPPED, items: dropped.map(describe) },
    ],
  };
}

export function memoriesSection({ given, timings }: AnsweredDisplayTurn): Section {
  const { retrieved, retrieval, summary = '' } = given;
  let left = MAX_MEMORIES_BYTES;
  const rows = retrieved.map(({ rank, score, evidence, kept, memoryId, content }) => {
    const most = Math.max(0, Math.min(MAX_MEMORY_BYTES, left));
    left -= Math.min(Buffer.byteLength(content), most);
    return {
      label: memoryId,
      look: evidence ? 'evidence' : '',
      cells: [
        { content: String(rank) },
        { content: formatNumber(score, 3) },
        { content: evidence ? ({ text: 'evidence', look: 'good' } as const) : '' },
        { content: kept ? 'kept' : ({ text: 'not kept', look: 'bad' } as const) },
        { content: { text: content, most } },
      ],
    };
  });
  const details = retrieval === null ? '{}' : JSON.stringify(retrieval.details);
  const columns = sectionColumns({ rank: 'number', score: 'number', evidence: 'text', kept: 'text', content: 'wrap' });
  const table: SectionBlock = {
    kind: 'table',
    what: 'memories',
    rowHeading: 'memory',
    columns,
    rows,
    most: MAX_MEMORIES,
  };
  return {
    id: 'memories',
    heading: `Retrieved memories, ${retrieved.length}`,
    blocks: [
      ...textBlocks(retrievalText(retrieval, timings.retrieve)),
      ...(retrieval?.flags ?? []).flatMap(({ flag, reason }) => textBlocks(`${flag}: ${reason}`, 'bad')),
      ...(rows.length === 0 ? textBlocks('None.', 'soft') : [table]),
      ...detailsBlock('Details of the retrieval', details === '{}' ? '' : details, 4000),
      ...detailsBlock('Summary by the retriever (history_context)', summary, 8000),
    ],
  };
}

function retrievalText(retrieval: AnsweredDisplayTurn['given']['retrieval'], ms: number): string {
  if (retrieval === null) return 'No retriever was used.';
  const { strategy, timingsMs, tokensUsed, tokenBudget } = retrieval;
  const times = Object.entries(timingsMs).map(([name, time]) => `${name} ${formatNumber(time, 2)}`);
  const budget = tokenBudget === undefined ? '' : `, ${tokensUsed ?? 0} of ${tokenBudget} tokens of its budget`;
  return `Strategy ${strategy}, ${formatNumber(ms, 2)} ms (${times.join(', ')})${budget}.`;
}

const detailsBlock = (summary: string, text: string, most: number): SectionBlock[] =>
  text === '' ? [] : [{ kind: 'details', summary, text, most }];
