import { formatNumber } from '../../render/format-number.ts';
import { type BarPart, type Section, type SectionBlock, sectionColumns, textBlocks } from '../../render/section.ts';
import type { KvOrigin, PrefillRecord } from '../../store/records/prefill-record.ts';
import type { AnsweredDisplayTurn } from '../turn-scores-for-display.ts';

const MAX_PIECES = 60;
/** Shorter phases are not shown, ms. */
const MIN_PHASE = 0.005;

const originNames: Readonly<Record<KvOrigin, string>> = {
  computed: 'computed',
  resident: 'in the session',
  memory: 'memory (L1)',
  disk: 'disk (L2)',
};

export const cacheNames = { miss: 'cache miss', hit: 'cache hit', bypass: 'bypass' } as const;

function bytesText(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  return bytes < 2 ** 20 ? `${formatNumber(bytes / 1024, 1)} KiB` : `${formatNumber(bytes / 2 ** 20, 1)} MiB`;
}

export function kvSection(turn: AnsweredDisplayTurn): Section {
  const { prefill } = turn;
  const pieces = kvPieces(prefill);
  const numbers = { tokens: 'number', positions: 'number', size: 'number', α: 'number', ms: 'number' } as const;
  const table: SectionBlock = {
    kind: 'table',
    what: 'blocks',
    rowHeading: 'block',
    columns: sectionColumns({ origin: 'text', ...numbers, key: 'text' }),
    rows: pieces.map(({ name, memoryId, origin, tokens, position, sizeBytes, alpha, computeMs, key }) => ({
      label: memoryId ?? name,
      cells: [
        { content: { text: originNames[origin], look: origin === 'computed' ? 'bad' : 'good' } },
        { content: String(tokens) },
        { content: `${position}–${position + tokens - 1}` },
        { content: bytesText(sizeBytes) },
        { content: formatNumber(alpha, 3) },
        { content: origin === 'computed' ? formatNumber(computeMs, 2) : '–' },
        { content: { text: `${key.slice(0, 12)}…`, look: 'code', title: key } },
      ],
    })),
    most: MAX_PIECES,
  };
  const note = 'The size of a block is its share of the imported bytes, by tokens. α never scales the header.';
  return {
    id: 'kv',
    heading: 'Injected KV',
    blocks: [
      ...textBlocks(kvSummary(turn)),
      ...(pieces.length === 0 ? [] : [table]),
      ...(prefill === null || prefill.strategy === 'prefix' ? [] : [{ kind: 'note', content: note } as const]),
    ],
  };
}

export function kvSummary({ prefill, tokens, account }: AnsweredDisplayTurn): string {
  if (prefill === null) {
    const nothing = 'No KV was injected: the whole sequence was given as text.';
    if (tokens.kvResident === 0) return nothing;
    return `${nothing} The KV of ${tokens.kvResident} of its tokens remained from an earlier prompt.`;
  }
  const isJoined = prefill.strategy !== 'prefix';
  const parts = [
    `Strategy ${prefill.strategy}`,
    'file' in prefill ? `made elsewhere: ${prefill.file}` : '',
    `α ${formatNumber(prefill.alpha, 3)}`,
    `${bytesText(prefill.sizeBytes)} loaded`,
    `${tokens.kvResident} cells filled`,
    `${account.built} tokens built in this turn`,
    prefill.evicted === undefined ? '' : `memory tokens evicted by ${prefill.evicted}`,
    account.repaired === undefined ? '' : `${account.repaired} of them repaired`,
    prefill.keptAs === undefined ? '' : `stored as ${prefill.keptAs}`,
    isJoined ? `joined in ${formatNumber(prefill.joinMs, 2)} ms` : '',
    isJoined && prefill.recomputedTokens > 0 ? `${prefill.recomputedTokens} tokens recomputed` : '',
    account.selector === undefined
      ? ''
      : `selected by ${account.selector.tokens} tokens through ${account.selector.layers} layers`,
    account.gate > 0 ? `${account.gate} tokens evaluated by the gate` : '',
  ];
  return `${parts.filter((part) => part !== '').join(', ')}.`;
}

/**
 * The KV that a turn injected, in the order of the sequence: the prefix, or the header and the block of each memory. Each has the
 * position of its first token and its share of the imported bytes, by tokens. α is 1 for the header, which is never scaled; for a
 * prefix it applies only to the lines of memories.
 */
export function kvPieces(prefill: PrefillRecord | null) {
  if (prefill === null) return [];
  if (prefill.strategy === 'prefix') {
    const { key, origin, tokens, sizeBytes, alpha, computeMs, memoryIds } = prefill;
    const name = `prefix of ${memoryIds.length} memor${memoryIds.length === 1 ? 'y' : 'ies'}`;
    return [{ name, memoryId: undefined, key, origin, tokens, position: 0, sizeBytes, alpha, computeMs }];
  }
  const { header, blocks, sizeBytes, alpha } = prefill;
  const all = header.tokens + blocks.reduce((sum, { tokens }) => sum + tokens, 0);
  const share = (tokens: number): number => (all === 0 ? 0 : (sizeBytes * tokens) / all);
  return [
    { ...header, name: 'header', memoryId: undefined, position: 0, alpha: 1, sizeBytes: share(header.tokens) },
    ...blocks.map((block) => ({ ...block, name: 'memory', alpha, sizeBytes: share(block.tokens) })),
  ];
}

export function costSection(turn: AnsweredDisplayTurn): Section {
  const { timings, tokens, account } = turn;
  const phases = turnPhases(turn);
  const whole = Math.max(timings.total, ...phases.map(({ startMs, ms }) => startMs + ms));
  const axis: BarPart = { look: 'axis', start: timings.firstToken / whole - 0.001, share: 0.003 };
  const row = (label: string, look: string, ms: number, startMs = 0) => {
    const bar = [{ look, start: startMs / whole, share: ms / whole }, ...(look === 'phase' ? [axis] : [])];
    return { label, cells: [{ content: formatNumber(ms, 2), bar }] };
  };
  const expected = account.evaluated === tokens.evaluated ? '' : ` (${account.evaluated} expected)`;
  const counts = {
    prompt: String(tokens.prompt),
    'KV resident': String(tokens.kvResident),
    evaluated: [String(tokens.evaluated), { text: expected, look: 'bad' }],
    generated: String(tokens.generated),
    positions: String(tokens.positions),
  } as const;
  return {
    id: 'cost',
    heading: `Cost: ${cacheNames[account.cache]}`,
    blocks: [
      {
        kind: 'table',
        what: 'token counts',
        rowHeading: '',
        columns: Object.keys(counts).map((heading) => ({ heading, kind: 'number' })),
        rows: [{ label: 'tokens', cells: Object.values(counts).map((content) => ({ content })) }],
      },
      { kind: 'heading', id: 'timings', text: 'Timings' },
      {
        kind: 'table',
        what: 'timings',
        rowHeading: 'phase',
        columns: [{ heading: 'ms', kind: 'bar' }],
        rows: [
          ...phases.map(({ name, startMs, ms }) => row(name, 'phase', ms, startMs)),
          row('first token', 'first', timings.firstToken),
          row('total', 'total', timings.total),
        ],
      },
    ],
  };
}

/** The phases of a turn in order. The part of `kvCompute` after the answer is shown as `store KV`; unaccounted time comes last. */
export function turnPhases({ timings }: Pick<AnsweredDisplayTurn, 'timings'>) {
  const { retrieve, gate, assemble, kvLoad, kvCompute, prefill, firstToken, decode, total } = timings;
  const computed = Math.min(kvCompute, Math.max(0, firstToken - retrieve - gate - assemble - kvLoad - prefill));
  const parts = {
    retrieve,
    gate,
    'assemble prompt': assemble,
    'compute KV': computed,
    'load KV': kvLoad,
    prefill,
    decode,
    'store KV': kvCompute - computed,
  };
  const known = Object.values(parts).reduce((sum, ms) => sum + ms, 0);
  let startMs = 0;
  return Object.entries({ ...parts, other: total - known }).flatMap(([name, ms]) => {
    if (ms < MIN_PHASE) return [];
    const phase = { name, startMs, ms };
    startMs += ms;
    return [phase];
  });
}
