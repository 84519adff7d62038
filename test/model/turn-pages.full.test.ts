import { afterAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { runBench } from '../../src/bench/run-bench.ts';
import { itemPage, readItemPage } from '../../src/viewer/item-page.ts';
import { printTurn } from '../../src/viewer/turn/print-turn.ts';
import { serverLinks as links } from '../../src/viewer/links.ts';
import { kvPieces } from '../../src/viewer/turn/kv-and-cost-sections.ts';
import { segmentsWithPositions } from '../../src/viewer/turn/segment-positions.ts';
import { sequenceDifference } from '../../src/viewer/turn/sequence-difference.ts';
import { tokenSpans } from '../../src/viewer/turn/token-spans.ts';
import { turnPage, readTurnPage, type TurnModel, turnsJson } from '../../src/viewer/turn/turn-page.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { smallConfig } from './bench-fixture.ts';
import { answeredTurns } from './finished-run.ts';

const arms = ['oracle', 'rag', 'rag-cached', 'dki', 'dki-blocks', 'dki-link:4', 'dki-parallel'];
const run = 'pages';
const folder = temporaryFolder();
const config = smallConfig(folder, { suite: 'main', run, users: '10', limit: '8', arms: arms.join(',') });
await runBench(config);
const database = openDatabase({ path: config.db });
const turns = answeredTurns(config, run).map(({ itemId: item, arm, repeat, turn }) =>
  readTurnPage(database, { run, item, arm, repeat, turn }),
);
afterAll(() => database.close());

const answered = ({ turn }: TurnModel) => {
  if (turn.state === 'failed') throw new Error(turn.error.message);
  return turn;
};

describe('the turns of a run', () => {
  it('hold the terms of the gold answer’s log-probability, to the bit, and their tokens', () => {
    expect(turns).toHaveLength(10 * arms.length);
    for (const { goldTokens, goldLogProbability } of turns.map((model) => answered(model).observed)) {
      expect(goldTokens.reduce((sum, { logProbability }) => sum + logProbability, 0)).toBe(goldLogProbability);
    }
    const { observed, item } = answered(turns[0]!);
    const text = observed.goldTokens.map(({ token }) => token).join('');
    if (item.gold !== null) expect(text.trim()).toBe(item.gold);
  });

  it('hold a piece of every token, which make up the text of each segment', () => {
    for (const model of turns) {
      for (const { text, tokenIds } of answered(model).prompt.segments) {
        expect(tokenIds.filter((id) => !model.pieces.has(id))).toEqual([]);
        const spans = tokenSpans(text, tokenIds, model.pieces);
        expect(spans.map((span) => span.text).join('')).toBe(text);
        expect(spans.flatMap(({ ids }) => ids)).toEqual(tokenIds);
        // Tokens that share a character share a span.
        if (/^\p{ASCII}*$/u.test(text)) expect(spans.length).toBe(tokenIds.length);
      }
    }
  });

  it('place their segments where the blocks were placed, and end at the positions that were counted', () => {
    for (const model of turns) {
      const turn = answered(model);
      const segments = segmentsWithPositions(turn);
      const last = segments.at(-1)!;
      expect(last.position + last.tokenIds.length).toBe(turn.tokens.positions);
      for (const { memoryId, position, tokens } of kvPieces(turn.prefill)) {
        if (memoryId === undefined) continue;
        const segment = segments.find((one) => one.memoryId === memoryId)!;
        expect([segment.position, segment.tokenIds.length]).toEqual([position, tokens]);
      }
    }
  });

  it('differ from RAG where their arm says so: in nothing, or in positions', () => {
    for (const model of turns) {
      const { rag } = model;
      if (rag === undefined || answered(model).arm === 'oracle') continue;
      const difference = sequenceDifference(answered(model), rag, model.pieces);
      expect([difference.onlyHere, difference.onlyThere]).toEqual([0, 0]);
      const shares = answered(model).arm === 'dki-parallel' && answered(model).prompt.segments.length > 5;
      expect(difference.movedTokens > 0).toBe(shares);
    }
  });

  it('make pages, lines and documents that tell the same', async () => {
    for (const model of turns) {
      const turn = answered(model);
      const page = String(await turnPage(model, links));
      expect(Buffer.byteLength(page)).toBeLessThan(100_000);
      expect(page).not.toMatch(/undefined|NaN|\[object/);
      const text = printTurn(run, turn, { width: 80, colour: false }, model);
      expect(text).not.toMatch(/undefined|NaN|\[object/);
      const { prompt, kvResident, evaluated } = turn.tokens;
      expect(text).toMatch(new RegExp(`^tokens +${prompt} +${kvResident} +${evaluated} `, 'm'));
      expect(JSON.parse(turnsJson([model]))).toMatchObject({ run: { name: run }, turns: [{ arm: turn.arm }] });
    }
  });

  it('stand side by side on the page of their item, with the evidence', async () => {
    const item = answered(turns[0]!).itemId;
    const model = readItemPage(database, run, item);
    expect(model.outcomes.map(({ arm }) => arm).sort()).toEqual([...arms].sort());
    expect(model.evidence).toHaveLength(model.sample!.item.evidence);
    const page = String(await itemPage(model, links));
    for (const arm of arms)
      expect(page).toContain(links.turn({ run, item, arm, repeat: 0, turn: 0 }).replaceAll('&', '&amp;'));
  });

  it('are refused in a repeat that there was not', () => {
    const ref = { run, item: answered(turns[0]!).itemId, arm: 'rag', repeat: 3, turn: 0 };
    expect(() => readTurnPage(database, ref)).toThrow(`item ${ref.item} has no turn 0 of rag in repeat 3`);
  });
});
