import { expect, test } from 'vitest';
import { asksForTimeline, fastPathFiles, recentJournal } from './salience-entry.ts';

test.each([
  ['user/preferences.md', '我的偏好是什么', 'What is my drink Preference?'],
  ['user/instructions.md', '有哪些指令', 'Which instructions did I give?', '回答的规则', 'Is there a rule for this?'],
  ['TASKS.md', '当前任务', 'What are the open tasks?'],
  ['user/entities.md', '列出实体', 'Which entity is this?', '重要的人物', 'Which people do I know?'],
  ['agent/decisions.md', '上周的决策', 'Why that decision?'],
  ['agent/patterns.md', '代码模式', 'Which pattern do we use?'],
])('questions for %s', (uri, ...queries) => {
  for (const query of queries) expect(fastPathFiles(query), query).toEqual([uri]);
});

test('a question may name several files, of both scopes, or none', () => {
  const query = 'Which decision changed the rules of my tasks?';
  expect(fastPathFiles(query)).toEqual(['user/instructions.md', 'TASKS.md', 'agent/decisions.md']);
  expect(fastPathFiles(query, 'global')).toEqual(['user/instructions.md']);
  expect(fastPathFiles(query, 'project')).toEqual(['TASKS.md', 'agent/decisions.md']);
  expect(fastPathFiles('What is my dog called?')).toEqual([]);
});

test('questions about recent statements are recognised, without backtracking', () => {
  const recent = ['我最近说了什么', 'Recently?', 'What did I say Today?', '昨天', 'yesterday', '这几天忙吗'];
  for (const query of [...recent, 'the past 12 days']) expect(asksForTimeline(query), query).toBe(true);
  const others = ['the past few days', 'past  3 days', 'What is my dog called?', ''];
  const long = ['past 1'.repeat(200_000), `past ${'1'.repeat(1_000_000)}`];
  for (const query of [...others, ...long]) expect(asksForTimeline(query), query.slice(0, 20)).toBe(false);
});

test('the journal of the last seven days begins today and crosses the end of a month', () => {
  const days = ['03-02', '03-01', '02-28', '02-27', '02-26', '02-25', '02-24'];
  const files = days.map((day) => `journal/2026-${day}.md`);
  expect(recentJournal(Date.parse('2026-03-02T00:30:00Z'))).toEqual(files);
});
