import { describe, expect, test } from 'vitest';
import { fastPathFiles } from './salience-entry.ts';

describe('fastPathFiles', () => {
  test.each([
    ['我的偏好是什么', 'user/preferences.md'],
    ['What is my drink Preference?', 'user/preferences.md'],
    ['有哪些指令', 'user/instructions.md'],
    ['Which instructions did I give?', 'user/instructions.md'],
    ['回答的规则', 'user/instructions.md'],
    ['Is there a rule for this?', 'user/instructions.md'],
    ['当前任务', 'TASKS.md'],
    ['What are the open tasks?', 'TASKS.md'],
    ['列出实体', 'user/entities.md'],
    ['Which entity is this?', 'user/entities.md'],
    ['重要的人物', 'user/entities.md'],
    ['Which people do I know?', 'user/entities.md'],
    ['上周的决策', 'agent/decisions.md'],
    ['Why that decision?', 'agent/decisions.md'],
    ['代码模式', 'agent/patterns.md'],
    ['Which pattern do we use?', 'agent/patterns.md'],
  ])('%s → %s', (query, uri) => {
    expect(fastPathFiles(query)).toEqual([uri]);
  });

  test('a question about nothing of the table points nowhere', () => {
    expect(fastPathFiles('What is my dog called?')).toEqual([]);
  });

  test('of several, those of the scope that is asked for, in the order of the table', () => {
    const query = 'Which decision changed the rules of my tasks?';
    expect(fastPathFiles(query)).toEqual(['user/instructions.md', 'TASKS.md', 'agent/decisions.md']);
    expect(fastPathFiles(query, 'global')).toEqual(['user/instructions.md']);
    expect(fastPathFiles(query, 'project')).toEqual(['TASKS.md', 'agent/decisions.md']);
  });
});
