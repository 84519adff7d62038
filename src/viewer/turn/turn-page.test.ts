import { describe, expect, it } from 'vitest';
import { changed } from '../../../test/fixtures/draft.ts';
import { answeredTurn, failedTurn } from '../../../test/fixtures/turn-record.ts';
import { metricsOfRun } from '../../eval/analysis/metrics/metric-selection.ts';
import type { AttributionRecord } from '../../store/records/attribution-record.ts';
import { layout } from '../page-layout.ts';
import { printTurn } from './print-turn.ts';
import { serverLinks as links } from '../links.ts';
import type { PrefillRecord } from '../../store/records/prefill-record.ts';
import { type AnsweredDisplayTurn, type DisplayTurn, turnForDisplay } from '../turn-scores-for-display.ts';
import { turnPage, type TurnModel, turnsJson } from './turn-page.ts';

const model = { name: 'tiny', sha256: 'ab'.repeat(32) };
const metrics = metricsOfRun({ dataset: {} });
const run = { id: 'run-1', name: 'main-1', suite: 'main', model, arms: [], metrics, hiddenTexts: null };
const markup = '<script>alert(1)</script><img src=x onerror=alert(1)>" \' & \u202eevil\u2066 \u0000 \u001b[2J';

const answered = (...of: Parameters<typeof answeredTurn>): AnsweredDisplayTurn => turnForDisplay(answeredTurn(...of));

function modelOf(turn: DisplayTurn, more: Partial<TurnModel> = {}): TurnModel {
  const nothing = { rag: undefined, against: undefined, attribution: undefined, pieces: new Map<number, string>() };
  return { run, turn, siblings: [turn], ...nothing, ...more };
}

async function pageOf(model: TurnModel, places: readonly string[] = []): Promise<string> {
  const body = turnPage(model, links, places);
  return layout({ kind: 'turn', title: model.turn.arm, body, breadcrumbs: [] }, links);
}

/** A turn with that text wherever data may bring one. */
function filledWith(text: string): AnsweredDisplayTurn {
  const filled = changed(answered('dki', { injected: true, answer: text }), ({ prompt, given, item, observed }) => {
    prompt.originalQuery = text;
    for (const segment of prompt.segments) segment.text = text;
    for (const memory of given.retrieved)
      Object.assign(memory, { content: text, memoryId: `${memory.memoryId}${markup}` });
    prompt.budget.warnings = [markup];
    prompt.budget.dropped[0]!.id = markup;
    item.gold = text;
    observed.nextTokens[0]!.token = markup;
    observed.goldTokens = [{ token: markup, logProbability: -1 }];
    given.summary = text;
    const details = { note: text };
    const timingsMs = { embedding: 1, search: 1, ranking: 1 };
    given.retrieval = { strategy: markup, timingsMs, flags: [{ flag: 'degraded', reason: markup }], details };
  });
  return { ...filled, arm: markup, itemId: markup, userId: markup };
}

function faultsOf(page: string): string[] {
  const body = page.slice(page.indexOf('<main'));
  const suspect = body.match(/<(?:script|img)|\son\w+=["']?\w|\sstyle=|javascript:/gi) ?? [];
  return [
    ...suspect.filter((one) => !one.startsWith(' onerror')),
    ...(body.match(/<[^>]*\sonerror/g) ?? []),
    ...(page.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g) ?? []),
  ];
}

describe('the page of a turn', () => {
  it('shows the text that the model was given to begin its answer with apart from the answer', async () => {
    const turn = changed(answered('dki'), ({ prompt, answer }) => {
      prompt.segments.push({ role: 'answerPrefix', text: ' You <b>live', tokenIds: [9, 9], origin: 'evaluated' });
      answer.prefix = 'You <b>live ';
      answer.thoughtTokens = 7;
    });
    const page = await pageOf(modelOf(turn));
    expect(faultsOf(page)).toEqual([]);
    const prefix = '<span class="soft" title="given to the model"><span class="text">You &lt;b&gt;live </span>';
    for (const part of [prefix, 'after 7 tokens of thought', 'answer prefix']) expect(page).toContain(part);
  });

  it('shows text of data as text', async () => {
    const turn = filledWith(markup);
    const page = await pageOf(modelOf(turn, { rag: turn, against: filledWith('other') }));
    expect(faultsOf(page)).toEqual([]);
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain('\\u202eevil\\u2066 \\x00 \\x1b[2J');
  });

  it.each(['長い', '<&', '\u202e', '\n'])(
    'stays small with a megabyte of %j, says what it leaves out',
    async (piece) => {
      const text = markup + piece.repeat(500_000);
      const turn = filledWith(text);
      const model = modelOf(turn, { rag: turn, against: filledWith(`other ${text}`) });
      const page = await pageOf(model);
      expect(Buffer.byteLength(page)).toBeLessThan(200_000);
      expect(faultsOf(page)).toEqual([]);
      expect(page).toMatch(/… [\d,]+ more characters, all in the raw JSON/);
      const [shown] = (JSON.parse(turnsJson([model])) as { turns: [AnsweredDisplayTurn] }).turns;
      expect(shown.answer.text).toBe(text);
      expect(printTurn('r', turn, { width: 80, colour: false }).length).toBeLessThan(400_000);
    },
  );

  it('stays small with ten thousand tokens, a hundred memories dropped and as many blocks', async () => {
    const few = answered('dki', { injected: true });
    const line = few.prompt.segments[3]!;
    const ids = Array.from({ length: 40 }, (_, index) => 10_000 + index);
    const text = ' token'.repeat(40);
    const lines = Array.from({ length: 250 }, (_, index) => {
      return { ...line, memoryId: `memory-${index}`, text, tokenIds: ids };
    });
    const retrieved = lines.map(({ memoryId }, index) => {
      return { memoryId, content: text, score: 0.5, rank: index + 1, kept: true, evidence: index === 0 };
    });
    const block = { key: 'ab'.repeat(32), origin: 'disk', tokens: 40, computeMs: 0 } as const;
    const costs = { alpha: 0.5, sizeBytes: 1e7, recomputed: [], recomputedTokens: 0, joinMs: 1 };
    const prefill: PrefillRecord = {
      ...costs,
      strategy: 'blocks',
      header: block,
      blocks: lines.map(({ memoryId }, index) => ({ ...block, memoryId, position: 40 * index })),
    };
    const many = changed(few, ({ prompt }) => {
      prompt.segments.splice(3, 2, ...lines.map((segment) => ({ ...segment, tokenIds: [...ids] })));
      prompt.budget.dropped = lines.map(({ memoryId }) => {
        return { part: 'memory', id: memoryId, tokens: 40, rule: 'memory-budget' };
      });
    });
    const turn = { ...many, given: { ...many.given, retrieved }, prefill };
    const pieces = new Map(ids.map((id) => [id, ' token']));
    const left = lines.map(({ memoryId }) => ({ memoryId, logProbability: -2 }));
    const attribution: AttributionRecord = { method: 'blocks', logProbability: -1, modelMs: 5, memories: left };
    const page = await pageOf(modelOf(turn, { rag: turn, against: turn, attribution, pieces }));

    expect(Buffer.byteLength(page)).toBeLessThan(200_000);
    expect(page).toContain('<i> token<sub>10001</sub></i>');
    expect(page).toContain('Only the first segments show token boundaries');
    expect(page).toContain('… 106 more segments, all in the raw JSON.');
    expect(page).toContain('… 210 more memories, all in the raw JSON.');
  });

  it('says what a run did not record', async () => {
    const page = await pageOf(modelOf(answered('rag')));
    expect(page).toContain('Token boundaries were not recorded in this run');
    expect(page).toContain('No retriever was used.');
  });

  it('shows the reason of a failed turn and how to see it again', async () => {
    const failed = failedTurn('rag', `no space ${markup}`, { itemId: "it's 7" });
    const page = await pageOf(modelOf(failed), ['--db', 'a b.sqlite']);
    expect(page).toContain('no space &lt;script&gt;');
    const command = 'npx dki-bench inspect --run main-1 --item &#39;it&#39;\\&#39;&#39;s 7&#39; --arm rag --print';
    expect(page).toContain(`${command} --db &#39;a b.sqlite&#39;`);
  });
});
