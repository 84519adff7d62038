import type { SeededRandom } from '../../base/seeded-random.ts';

/** A sentence in Chinese and a question that it answers. */
export interface ChineseFact {
  readonly subject: string;
  readonly statement: string;
  readonly question: string;
  readonly value: string;
}

/** `{s}` the subject, `{v}` the value; the second question shares fewer characters with the statement. */
interface ChineseRelation {
  readonly statement: string;
  readonly questions: readonly [string, string];
  readonly values: 'name' | 'place' | 'thing';
}

const relations: readonly ChineseRelation[] = [
  { statement: '{s}养了一只叫{v}的狗。', questions: ['{s}养的狗叫什么？', '{s}家的小狗是什么名字？'], values: 'name' },
  { statement: '{s}的猫叫{v}。', questions: ['{s}的猫叫什么？', '{s}给猫咪起了什么名字？'], values: 'name' },
  { statement: '{s}住在{v}。', questions: ['{s}住在哪里？', '{s}的家在哪个城市？'], values: 'place' },
  { statement: '{s}出生在{v}。', questions: ['{s}出生在哪里？', '{s}的老家是什么地方？'], values: 'place' },
  { statement: '{s}最喜欢吃{v}。', questions: ['{s}最喜欢吃什么？', '{s}爱吃哪道菜？'], values: 'thing' },
  { statement: '{s}平时喜欢喝{v}。', questions: ['{s}平时喜欢喝什么？', '{s}常点哪种饮料？'], values: 'thing' },
  { statement: '{s}对{v}过敏。', questions: ['{s}对什么过敏？', '{s}不能碰什么东西？'], values: 'thing' },
  { statement: '{s}的医生是{v}。', questions: ['{s}的医生是谁？', '{s}看病找哪位大夫？'], values: 'name' },
  { statement: '{s}的老板叫{v}。', questions: ['{s}的老板叫什么？', '{s}在公司的上司是谁？'], values: 'name' },
  { statement: '{s}在{v}公司上班。', questions: ['{s}在哪家公司上班？', '{s}的雇主是哪家？'], values: 'thing' },
  { statement: '{s}正在学{v}语。', questions: ['{s}正在学什么语？', '{s}最新学的外语是哪一门？'], values: 'thing' },
  {
    statement: '{s}周末常去{v}爬山。',
    questions: ['{s}周末常去哪里爬山？', '{s}休息日登的是哪座山？'],
    values: 'place',
  },
  { statement: '{s}的车是{v}牌的。', questions: ['{s}的车是什么牌的？', '{s}开的是哪种汽车？'], values: 'thing' },
  {
    statement: '{s}的备用钥匙放在{v}。',
    questions: ['{s}的备用钥匙放在哪里？', '{s}把多余的钥匙藏在什么位置？'],
    values: 'place',
  },
  {
    statement: '{s}下个月要去{v}旅行。',
    questions: ['{s}下个月要去哪里旅行？', '{s}打算到什么地方度假？'],
    values: 'place',
  },
  { statement: '{s}最好的朋友是{v}。', questions: ['{s}最好的朋友是谁？', '{s}跟谁关系最亲近？'], values: 'name' },
];

const subjects = ['我', '我姐姐', '我爸爸', '我同事'] as const;
const surnames = [...'林陈苏叶江许沈顾程唐'];
const characters = [...'墨团青岚若溪柏舟星野竹笙木槿云岫知夏鹿鸣沐阳怀瑾松涛素秋'];

function drawName(random: SeededRandom): string {
  return random.pick(surnames) + random.pick(characters) + (random.chance(0.5) ? random.pick(characters) : '');
}

function drawValue(random: SeededRandom, values: ChineseRelation['values']): string {
  if (values === 'name') return drawName(random);
  const pair = random.pick(characters) + random.pick(characters);
  return values === 'place' ? pair + random.pick(['市', '山', '镇', '湾']) : pair;
}

/** Draws until a value is unused. */
function unused(used: Set<string>, draw: () => string): string {
  for (;;) {
    const value = draw();
    if (used.has(value)) continue;
    used.add(value);
    return value;
  }
}

/**
 * Draws facts of the user, of relatives and of people by name, so that every attribute is known of several subjects and
 * a question is answered by one of them alone. Every second question is in the words of the statement.
 *
 * @throws RangeError for more facts than there are attributes of subjects
 */
export function drawChineseFacts(random: SeededRandom, count: number): ChineseFact[] {
  const used = new Set<string>();
  const named = [unused(used, () => drawName(random)), unused(used, () => drawName(random))];
  const pairs = [...subjects, ...named].flatMap((subject) => relations.map((relation) => ({ subject, relation })));
  if (count > pairs.length) throw new RangeError(`${count} facts of ${pairs.length} attributes of subjects`);
  return random
    .shuffled(pairs)
    .slice(0, count)
    .map(({ subject, relation }, index) => {
      const value = unused(used, () => drawValue(random, relation.values));
      return {
        subject,
        value,
        statement: relation.statement.replace('{s}', subject).replace('{v}', value),
        question: relation.questions[index % 2 === 0 ? 0 : 1].replace('{s}', subject),
      };
    });
}
