import { expect, test } from 'vitest';
import { z } from 'zod';
import { answeredTurn, failedTurn } from '../../../test/fixtures/turn-record.ts';
import { privateTextHash } from '../../base/private-text-hash.ts';
import { turnRecord } from '../../store/records/turn-record.ts';
import { isRedacted, redactResult, redactTurn } from './redact-turn.ts';

const base = answeredTurn('dki', { injected: true });
const secret = 'Zanzibar';
/** A turn that says the same word wherever a text can stand. */
const turn = answeredTurn('dki', {
  injected: true,
  changes: {
    item: {
      ...base.item,
      query: secret,
      gold: secret,
      acceptedAnswers: [secret],
      nuggets: [secret],
      answerPrefix: secret,
    },
    given: {
      retrieved: base.given.retrieved.map((memory) => ({ ...memory, content: secret })),
      summary: `## ${secret}`,
      retrieval: {
        strategy: 'hinted',
        timingsMs: { embedding: 1, search: 1, ranking: 1 },
        flags: [{ flag: 'fallback', reason: `cannot route ${secret}` }],
        details: { hints: [secret] },
      },
    },
    prompt: {
      ...base.prompt,
      ...{ originalQuery: secret, systemPrompt: secret, retrievedContext: secret, historyText: secret },
      historyMessages: [{ role: 'user', content: secret }],
      finalPrompt: secret,
      segments: base.prompt.segments.map((segment) => ({ ...segment, text: secret })),
    },
    answer: { ...base.answer, text: secret, prefix: secret },
    observed: {
      ...base.observed,
      goldTokens: [{ token: secret, logProbability: -0.125 }],
      nextTokens: [{ token: secret, probability: 0.5 }],
    },
  },
});

test('no text is left, and no token id that would give one back', () => {
  const hidden = redactTurn(turn);
  expect(JSON.stringify(turn)).toContain(secret);
  expect(JSON.stringify(hidden)).not.toContain(secret);
  const hash = privateTextHash(secret);
  expect(hidden.item).toMatchObject({ query: hash, gold: hash, category: 'updated', memories: 3 });
  const ids = [...hidden.prompt.segments.map(({ tokenIds }) => tokenIds), hidden.answer.tokenIds];
  expect(ids.every(isRedacted)).toBe(true);
  expect(turnRecord.parse(hidden)).toEqual(hidden);
});

test('ids, numbers and times stay, equal texts stay equal, and doing it again changes nothing', () => {
  const hidden = redactTurn(turn);
  const { timings, tokens, facts, scores, account, itemId, userId } = turn;
  expect(hidden).toMatchObject({ timings, tokens, facts, scores, account, itemId, userId });
  const lengths = ({ prompt }: typeof turn) => prompt.segments.map(({ tokenIds }) => tokenIds.length);
  expect(lengths(hidden)).toEqual(lengths(turn));
  const [bos, system] = hidden.prompt.segments;
  expect(bos!.tokenIds[0]).not.toBe(system!.tokenIds[0]);
  expect(hidden.observed.goldTokens).toEqual([{ token: '', logProbability: -0.125 }]);
  expect(redactTurn(hidden)).toEqual(hidden);
});

test('the part that results are computed from is hidden alike', () => {
  const result = redactResult(turn);
  expect(result.item).toEqual(redactTurn(turn).item);
  expect([result.answer.text, result.given.retrieval?.details]).toEqual([privateTextHash(secret), {}]);
  const failed = redactTurn(failedTurn('dki', `too long: ${secret}`));
  expect(failed.error).toEqual({ code: null, message: privateTextHash(`too long: ${secret}`) });
});

/** Fields that stay: ids, names of classes, hashes. */
const STAY =
  'state itemId userId arm memoryId memoryIds id relation category phrasing userKind strategy key file code warnings ' +
  'historySha256 sequenceSha256 sha256 foreign altered missing hidden elsewhere misplaced wrongCells evicted own stopTexts language';
/** Fields that hold texts, or are made of them. */
const HIDDEN =
  'query gold acceptedAnswers nuggets answerPrefix content summary reason originalQuery systemPrompt retrievedContext historyText ' +
  'finalPrompt text prefix token message details retrieverQuery';

/** Names of the fields that may hold any string. */
function stringFields(schema: unknown, name = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if ('type' in schema && schema.type === 'string' && !('enum' in schema) && !('const' in schema)) return [name];
  return Object.entries(schema).flatMap(([key, part]) =>
    key === 'properties'
      ? Object.entries(part as object).flatMap(([field, value]) => stringFields(value, field))
      : stringFields(part, name),
  );
}

test('every field of a turn that may hold a string is known to stay or to be hidden', () => {
  const fields = stringFields(z.toJSONSchema(turnRecord, { io: 'output', unrepresentable: 'any' }));
  const known = new Set(`${STAY} ${HIDDEN}`.split(' '));
  expect([...new Set(fields)].filter((field) => !known.has(field))).toEqual([]);
  expect(fields.length).toBeGreaterThan(30);
});
