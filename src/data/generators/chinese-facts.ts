import type { SeededRandom } from '../../base/seeded-random.ts';

/** Statement and two questions on value `{v}` of subject `{s}`, the second with fewer characters of the statement; the kind of value. */
const relations = [
  ['{s}养了一只叫{v}的狗。', '{s}养的狗叫什么？', '{s}家的小狗是什么名字？', 'name'],
  ['{s}的猫叫{v}。', '{s}的猫叫什么？', '{s}给猫咪起了什么名字？', 'name'],
  ['{s}住在{v}。', '{s}住在哪里？', '{s}的家在哪个城市？', 'place'],
  ['{s}出生在{v}。', '{s}出生在哪里？', '{s}的老家是什么地方？', 'place'],
  ['{s}最喜欢吃{v}。', '{s}最喜欢吃什么？', '{s}爱吃哪道菜？', 'thing'],
  ['{s}平时喜欢喝{v}。', '{s}平时喜欢喝什么？', '{s}常点哪种饮料？', 'thing'],
  ['{s}对{v}过敏。', '{s}对什么过敏？', '{s}不能碰什么东西？', 'thing'],
  ['{s}的医生是{v}。', '{s}的医生是谁？', '{s}看病找哪位大夫？', 'name'],
  ['{s}的老板叫{v}。', '{s}的老板叫什么？', '{s}在公司的上司是谁？', 'name'],
  ['{s}在{v}公司上班。', '{s}在哪家公司上班？', '{s}的雇主是哪家？', 'thing'],
  ['{s}正在学{v}语。', '{s}正在学什么语？', '{s}最新学的外语是哪一门？', 'thing'],
  ['{s}周末常去{v}爬山。', '{s}周末常去哪里爬山？', '{s}休息日登的是哪座山？', 'place'],
  ['{s}的车是{v}牌的。', '{s}的车是什么牌的？', '{s}开的是哪种汽车？', 'thing'],
  ['{s}的备用钥匙放在{v}。', '{s}的备用钥匙放在哪里？', '{s}把多余的钥匙藏在什么位置？', 'place'],
  ['{s}下个月要去{v}旅行。', '{s}下个月要去哪里旅行？', '{s}打算到什么地方度假？', 'place'],
  ['{s}最好的朋友是{v}。', '{s}最好的朋友是谁？', '{s}跟谁关系最亲近？', 'name'],
] as const;

const subjects = ['我', '我姐姐', '我爸爸', '我同事'] as const;
const surnames = [...'林陈苏叶江许沈顾程唐'];
const characters = [...'墨团青岚若溪柏舟星野竹笙木槿云岫知夏鹿鸣沐阳怀瑾松涛素秋'];

function drawName(random: SeededRandom): string {
  return random.pick(surnames) + random.pick(characters) + (random.chance(0.5) ? random.pick(characters) : '');
}

function drawThing(random: SeededRandom): string {
  return random.pick(characters) + random.pick(characters);
}

const drawValue = {
  name: drawName,
  thing: drawThing,
  place: (random: SeededRandom): string => drawThing(random) + random.pick(['市', '山', '镇', '湾']),
};

/**
 * Draws facts about the user, relatives and named people. Several subjects have the same attribute, and a question is
 * about one of them. Every second question is in the words of the statement.
 * @throws RangeError for more facts than pairs of subject and attribute
 */
export function drawChineseFacts(random: SeededRandom, count: number) {
  const used = new Set<string>();
  const unused = (draw: (random: SeededRandom) => string): string => {
    let value = draw(random);
    while (used.has(value)) value = draw(random);
    used.add(value);
    return value;
  };
  const named = [unused(drawName), unused(drawName)];
  const pairs = [...subjects, ...named].flatMap((subject) => relations.map((relation) => ({ subject, relation })));
  if (count > pairs.length)
    throw new RangeError(`${count} facts requested, but there are only ${pairs.length} pairs of subject and attribute`);
  const drawn = random.shuffled(pairs).slice(0, count);
  return drawn.map(({ subject, relation: [statement, same, other, values] }, index) => ({
    subject,
    statement: statement.replace('{s}', subject).replace('{v}', unused(drawValue[values])),
    question: (index % 2 === 0 ? same : other).replace('{s}', subject),
  }));
}
