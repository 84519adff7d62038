import { Command } from 'commander';
import { expect, test, vi } from 'vitest';
import { loadBenchConfig } from '../bench/load-config.ts';
import { addConfigOptions } from './options.ts';
import { commandNames, declareCommand, runProgram } from './program.ts';

/** The examples in the help of a command. */
function examples(command: Command): string[] {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const [, lines = ''] = help.split('\nExamples:\n');
  return [...lines.matchAll(/^ {2}dki-bench (.*)$/gm)].map(([, words]) => words!);
}

test.each(commandNames)('the examples of %s are understood', async (name) => {
  const lines = examples(await declareCommand(name, new Command()));
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines) {
    const [called, ...words] = line.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ''));
    const command = await declareCommand(called!, new Command());
    let ran = false;
    const leaves = [command, ...command.commands];
    for (const leaf of leaves.filter((one) => one.commands.length === 0)) leaf.action(() => void (ran = true));
    await command.exitOverride().parseAsync(words, { from: 'user' });
    expect([line, ran]).toEqual([line, true]);
  }
});

test.each(commandNames)('%s and its subcommands take --debug', async (name) => {
  const command = await declareCommand(name, new Command());
  const leaves = [command, ...command.commands].filter(({ commands }) => commands.length === 0);
  expect(leaves.filter(({ options }) => !options.some(({ long }) => long === '--debug'))).toEqual([]);
});

test.each([
  ['arms', 'list arms'],
  ['search', 'data search'],
  ['worker', 'queue worker'],
])('the old command %s names the new one', async (old, now) => {
  using write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  await runProgram([old, '--json']);
  expect(write.mock.calls.join('')).toBe(
    `error: the command ${old} is now: ${now}\n  hint: run dki-bench ${now} --help\n`,
  );
  expect(process.exitCode).toBe(2);
  process.exitCode = undefined;
});

const parsed = (...words: string[]): Record<string, unknown> =>
  addConfigOptions(new Command()).parse(words, { from: 'user' }).opts();

test('a boolean that its flag turns off is only set if it is given', () => {
  expect(parsed('--no-text')).toEqual({ text: false });
  expect(parsed()).toEqual({});
  const environment = { DKI_BENCH_TEXT: 'false' };
  expect(loadBenchConfig({ flags: parsed(), environment }).text).toBe(false);
  expect(loadBenchConfig({ flags: parsed('--text'), environment }).text).toBe(true);
  expect(addConfigOptions(new Command()).helpInformation()).not.toMatch(/^ *--text\b/m);
});
