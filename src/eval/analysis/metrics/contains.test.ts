import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { type AnswerSetting, contains } from './contains.ts';

const none = { query: 'Who is my dentist?', rivals: [], bystanders: [], evidenceTexts: [] } as const;
const english: AnswerSetting = { ...none, language: 'en', unknownAnswer: "I don't know." };
const chinese: AnswerSetting = { ...none, query: '我住在哪里？', language: 'zh', unknownAnswer: '我不知道。' };

test.each([
  ['Your dentist is Dr. Dubois.', 1],
  ['dubois', 1],
  ['You see Dubois’s assistant on Mondays.', 1],
  ['Your dentist is Dr. Dubois. It is not far.', 1],
  ['You have a dentist. It is Dubois.', 0],
  ['It is Duboisson.', 0],
  ['', 0],
  ["I don't know whether it is Dubois.", 0],
  ['Your dentist is not Dubois.', 0],
  ["Your dentist isn't Dubois.", 0],
  ['Your dentist isn’t called Dubois.', 0],
  ['Dubois is no longer your dentist.', 0],
  ["Dubois isn't your dentist.", 0],
  ['You never went to Dubois.', 0],
  ['You cannot see Dubois.', 0],
  ['There is no Dubois.', 0],
  ['Your dentist was Dubois, but not any more.', 0],
  ['Dubois, who is no longer your dentist.', 0],
  ['No, your dentist is Dubois.', 1],
  ['Not Moreau but Dubois.', 1],
  ['Your dentist is Dubois, not Moreau.', 1],
  ['I am not sure, but your dentist is Dubois.', 1],
  ['You see not only Dubois.', 1],
  ["Don't forget Dubois.", 1],
  ["If I'm not mistaken it is Dubois.", 1],
  ['It is not Moreau or Dubois.', 0],
])('%j holds Dubois: %i', (answer, expected) => {
  expect(contains(answer, ['Dubois'], english)).toBe(expected);
});

test.each([
  ['You get up at 7:30.', '7:30', 1],
  ['You get up at 7:30.', '7', 0],
  ['It cost $4,500.', '4500', 1],
  ['It cost 4500 dollars.', '$4,500', 1],
  ['It cost 45.', '4500', 0],
  ['It was -5 degrees.', '5', 0],
  ['Between 5-7 o’clock.', '5', 0],
  ['You drive a TX-4500 model.', 'TX-4500', 1],
  ['You work as a software engineer.', 'the software engineer', 1],
  ['Your blood type is A.', 'A', 1],
  ['You adopted a cat and a dog.', 'a cat and a dog', 1],
  ['It is in ＬＹＯＮ.', 'Lyon', 1],
  ['She hiked there. Then she swam.', 'She hiked there. Then she swam.', 1],
  ['You like no sugar in it.', 'no sugar', 1],
  ['It is New York City.', 'NYC|New York', 1],
  ['You have twenty-five cats.', '25', 1],
  ['You bought apples, bananas & pears.', 'apples, bananas and pears', 1],
  ['You bought pears, apples and bananas.', 'apples, bananas and pears', 0],
  ['Port and Dral.', 'Port Dral', 0],
  ["No, you don't.", 'no', 1],
  ['It has no effect.', 'no', 0],
])('%j holds %j: %i', (answer, golds, expected) => {
  expect(contains(answer, golds.split('|'), english)).toBe(expected);
});

/** Nothing for old and new together, for a rival, for a value inside a longer one, and for a recital. */
test.each<[answer: string, gold: string, setting: Partial<AnswerSetting>, expected: number]>([
  ['You moved from Oslo to Turin.', 'Turin', { rivals: ['Oslo'] }, 0],
  ['You live in Turin. You used to live in Oslo.', 'Turin', { rivals: ['Oslo'] }, 1],
  ['Turin or Lyon.', 'Turin', { rivals: ['Lyon'] }, 0],
  ['Turin.', 'Turin', { rivals: ['Turin', 'turin'] }, 1],
  ['Port Dral East.', 'Port Dral', { rivals: ['Port Dral East'] }, 0],
  ['Port Dral.', 'Port Dral', { rivals: ['Port'] }, 1],
  ['Before you moved to Oslo you lived in Turin.', 'Turin', { rivals: ['Oslo'], query: 'Where was I before Oslo?' }, 1],
  ['Oslo, Rex, Dubois, Turin and 7:30.', 'Turin', { bystanders: ['Oslo', 'Rex', 'Dubois', '7:30'] }, 0],
  ['Rex, Dubois and Turin.', 'Turin', { bystanders: ['Rex', 'Dubois'] }, 0],
  ['Your sister lives in Turin with Rex.', 'Turin', { bystanders: ['Rex', 'Dubois'] }, 1],
  ['Your sister lives in Turin with Rex.', 'Turin', { bystanders: ['Rex'] }, 1],
  ["I'm sorry, but I don't know.", "I don't know", {}, 1],
  ['Turin.', "I don't know", {}, 0],
  ['You cannot eat peanuts.', 'peanuts', {}, 0],
  ['You cannot eat peanuts.', 'peanuts', { evidenceTexts: ["I can't eat peanuts, they make me ill."] }, 1],
  ['You cannot eat peanuts.', 'peanuts', { query: 'What can I not eat?' }, 1],
])('%j holds %j beside %j: %i', (answer, gold, setting, expected) => {
  expect(contains(answer, [gold], { ...english, ...setting })).toBe(expected);
});

test.each([
  ['你住在都灵。', '都灵', 1],
  ['都灵', '都灵', 1],
  ['你不是住在都灵。', '都灵', 0],
  ['你不住在都灵。', '都灵', 0],
  ['你已经不再住在都灵了。', '都灵', 0],
  ['都灵不是你住的地方。', '都灵', 0],
  ['不是奥斯陆，是都灵。', '都灵', 1],
  ['不是奥斯陆而是都灵。', '都灵', 1],
  ['对不起，你住在都灵。', '都灵', 1],
  ['你现在住在都灵，不过很快要搬走。', '都灵', 1],
  ['我不知道是不是都灵。', '都灵', 0],
  ['你不得不去都灵。', '都灵', 1],
  ['你的未婚夫住在都灵。', '都灵', 1],
  ['你沒有住在都灵。', '都灵', 0],
  ['你对花生不过敏。', '花生', 0],
  ['你对花生过敏。', '花生', 1],
  ['你住在奥斯陆。都灵。', '都灵', 0],
  ['门的密码是４８２１。', '4821', 1],
  ['门的密码是48210。', '4821', 0],
  ['你在IBM公司工作。', 'IBM', 1],
  ['苹果、香蕉和梨。', '苹果、香蕉、梨', 1],
  ['不是苹果、香蕉和梨。', '苹果、香蕉、梨', 0],
  ['是的，你对花生过敏。', '是', 1],
  ['你的猫是橘色的。', '是', 0],
])('%j holds %s: %i', (answer, gold, expected) => {
  expect(contains(answer, [gold], chinese)).toBe(expected);
});

it('gives 1 to every gold itself, and 0 to the gold with a rival beside it', () => {
  const value = fc
    .stringMatching(/^[A-Z][a-z]{1,8}( [A-Z][a-z]{1,8})?$/)
    // What the question names itself is no rival.
    .filter(
      (name) => !/^(?:Not|No|Never|Nor)\b/.test(name) && !english.query.toLowerCase().includes(name.toLowerCase()),
    );
  fc.assert(
    fc.property(value, value, (gold, other) => {
      expect(contains(gold, [gold], english)).toBe(1);
      const apart =
        !`${gold} `.includes(`${other} `) &&
        !`${other} `.includes(`${gold} `) &&
        !gold.split(' ').some((word) => other.split(' ').includes(word));
      if (apart) expect(contains(`It is ${gold}, ${other}.`, [gold], { ...english, rivals: [other] })).toBe(0);
    }),
  );
});
