/** Where a memory belongs: to its user, or to what they work on. */
export type MemoryScope = 'global' | 'project';

/** Questions that point to one file, which is then read whole. */
export interface FastPathRule {
  readonly pattern: RegExp;
  readonly uri: string;
  readonly scope: MemoryScope;
  /** Of a memory that the file is for. */
  readonly memoryType: string;
}

/** The table of the seed, in its order; a pattern is met anywhere in the question. @see seed 002 §1 */
export const fastPathRules: readonly FastPathRule[] = [
  { pattern: /偏好|preference/i, uri: 'user/preferences.md', scope: 'global', memoryType: 'preference' },
  { pattern: /指令|instruction|规则|rule/i, uri: 'user/instructions.md', scope: 'global', memoryType: 'instruction' },
  { pattern: /任务|task/i, uri: 'TASKS.md', scope: 'project', memoryType: 'task' },
  { pattern: /实体|entity|人物|people/i, uri: 'user/entities.md', scope: 'global', memoryType: 'entity' },
  { pattern: /决策|decision/i, uri: 'agent/decisions.md', scope: 'project', memoryType: 'decision' },
  { pattern: /模式|pattern/i, uri: 'agent/patterns.md', scope: 'project', memoryType: 'pattern' },
];

/** The files that a question points to, in the order of the table; those of another scope than is asked for are left out. */
export function fastPathFiles(query: string, scope?: MemoryScope): string[] {
  return fastPathRules
    .filter((rule) => (scope === undefined || rule.scope === scope) && rule.pattern.test(query))
    .map(({ uri }) => uri);
}
