import { grammars } from '../../base/english-and-chinese-wordings.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { drawRelation, drawRelationValue, type Relation, USER } from './facts-and-relations.ts';
import { ASKED_MS, DAY_MS, retrievalMemory } from './retrieval-data.ts';
import { formatTime, ordinal } from './format-generated-records.ts';
import { question, statement } from './fact-wording.ts';

const USERS = 30;
/** How often the valid value is said, by topic. */
const MENTIONS = [2, 2, 5, 5] as const;
/** Number of other values of a topic, each said once. */
const RIVALS = 7;
/** Ages of mentions. All are older than the last days, which a retriever may read from a journal. */
const [MIN_OLD_DAYS, OLDEST_DAYS] = [8, 60];

/** Draws users who say eight values per topic. The valid one is said repeatedly; its first mention is the evidence. */
export function drawRepeatedMentions(seed: number, users = USERS) {
  const random = new SeededRandom(seed);
  return Array.from({ length: users }, (_, index) => drawUser(random, `s${ordinal(index)}`));
}

function drawUser(random: SeededRandom, userId: string) {
  const attributes = new Set<string>();
  const topics = MENTIONS.map((times, topic) => {
    const relation = drawOther(random, attributes);
    const [holding, ...rivals] = drawSentences(random, relation);
    const mentions = [...Array<string>(times).fill(holding!), ...rivals].map((content) => {
      const ageDays = MIN_OLD_DAYS + (OLDEST_DAYS - MIN_OLD_DAYS) * random.float();
      return { content, section: `topic ${topic + 1}`, atMs: ASKED_MS - ageDays * DAY_MS };
    });
    return { times, holding, mentions, query: question(random, USER, relation, 'known') };
  });
  const said = topics.flatMap(({ mentions }) => mentions).sort((a, b) => a.atMs - b.atMs);
  const memoryId = (place: number): string => `${userId}-m${ordinal(place)}`;
  return {
    userId,
    memories: said.map(({ atMs, ...told }, place) =>
      retrievalMemory({ userId, memoryId: memoryId(place) }, atMs, { ...told, memoryType: 'fact', reinforcement: 1 }),
    ),
    questions: topics.map(({ times, holding, query }, topic) => ({
      itemId: `${userId}-q${topic + 1}`,
      category: `said ${times} times`,
      query,
      evidence: [memoryId(said.findIndex(({ content }) => content === holding))],
      askedAt: formatTime(ASKED_MS),
    })),
  };
}

function drawOther(random: SeededRandom, attributes: Set<string>): Relation {
  for (;;) {
    const relation = drawRelation(random, grammars.en, 0, true);
    if (attributes.has(relation.attribute)) continue;
    attributes.add(relation.attribute);
    return relation;
  }
}

/** Sentences of different values; the first is the valid one. */
function drawSentences(random: SeededRandom, relation: Relation): string[] {
  const sentences = new Set<string>();
  while (sentences.size < RIVALS + 1) {
    const value = drawRelationValue(random, relation, true);
    sentences.add(statement(random, { subject: USER, relation, value }, 'known'));
  }
  return [...sentences];
}
