import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { commandNames, declareCommand } from '../../src/cli/program.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/scale.md'), 'utf8');

/** The parts of a job whose values are looked at one by one. */
interface Job {
  readonly spec: {
    readonly completions: number;
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly args: readonly string[]; readonly volumeMounts: readonly Named[] }[];
        readonly volumes: readonly Named[];
      };
    };
  };
}

interface Named {
  readonly name: string;
}

const document = parseDocument(readFileSync(join(root, 'examples/kubernetes-job.yaml'), 'utf8'), { strict: true });
const job = document.toJS() as Job;
const [container] = job.spec.template.spec.containers;
const scripts = [...[...page.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, text]) => text!), ...container!.args];

it('the job for Kubernetes is YAML without a warning, and an indexed job that mounts what it names, a shard for each index', () => {
  expect([document.errors, document.warnings]).toEqual([[], []]);
  // A job refuses to restart always.
  const spec = { completionMode: 'Indexed', template: { spec: { restartPolicy: 'Never' } } };
  expect(job).toMatchObject({ apiVersion: 'batch/v1', kind: 'Job', spec });
  const named = job.spec.template.spec.volumes.map(({ name }) => name);
  expect(container!.volumeMounts.map(({ name }) => name)).toEqual(named);
  // As many indices as shards.
  expect(container!.args.join('')).toContain(`--shard "$shard/${job.spec.completions}"`);
});

it.each(scripts)('a shell reads %j', (script) => {
  expect(spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
});

it('every option of a command line is one of its command', async () => {
  const lines = scripts.flatMap((script) => [
    ...script.matchAll(/dki-bench ([a-z]+)(?: (plan|worker|status|merge))?((?: [^#\n|]*)?)/g),
  ]);
  expect(lines.length).toBeGreaterThan(8);
  for (const [line, name = '', subcommand, rest = ''] of lines) {
    expect(commandNames, line).toContain(name);
    const command = await declareCommand(name, new Command());
    const called = subcommand === undefined ? command : command.commands.find((one) => one.name() === subcommand)!;
    const known = called.options.map(({ long }) => long);
    for (const [option] of rest.matchAll(/--[a-z-]+/g)) expect(known, line).toContain(option);
  }
});
