import { Command } from 'commander';
import { expect, test } from 'vitest';
import { declaredVerb, verbNames } from './program.ts';
import { examples } from './example-help.ts';

test('every verb has three examples', () => {
  expect(Object.keys(examples).toSorted()).toEqual(verbNames.toSorted());
  for (const lines of Object.values(examples)) expect(Object.keys(lines)).toHaveLength(3);
});

test.each(Object.values(examples).flatMap((lines) => Object.keys(lines)))('%s is understood', async (line) => {
  const [verb, ...words] = line.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ''));
  const command = await declaredVerb(verb!, new Command());
  let ran = false;
  const leaves = [command, ...command.commands];
  for (const leaf of leaves.filter((one) => one.commands.length === 0)) leaf.action(() => void (ran = true));
  await command.exitOverride().parseAsync(words, { from: 'user' });
  expect(ran).toBe(true);
});
