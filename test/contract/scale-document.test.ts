import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { commandNames, declareCommand } from '../../src/cli/program.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/scale.md'), 'utf8');
const blocksOf = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, text]) => text!);

interface Job {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: {
    readonly completionMode: string;
    readonly completions: number;
    readonly template: {
      readonly spec: {
        readonly restartPolicy: string;
        readonly containers: readonly {
          readonly args: readonly string[];
          readonly volumeMounts: readonly { readonly name: string }[];
        }[];
        readonly volumes: readonly { readonly name: string }[];
      };
    };
  };
}

const [manifest = ''] = blocksOf('yaml');
const document = parseDocument(manifest, { strict: true });
const job = document.toJS() as Job;
const [container] = job.spec.template.spec.containers;
const scripts = [...blocksOf('sh'), ...container!.args];

describe('the job for Kubernetes', () => {
  it('is YAML without a warning, and an indexed job that mounts what it names', () => {
    expect([document.errors, document.warnings]).toEqual([[], []]);
    expect(job).toMatchObject({ apiVersion: 'batch/v1', kind: 'Job', spec: { completionMode: 'Indexed' } });
    // A job refuses Always.
    expect(job.spec.template.spec.restartPolicy).toBe('Never');
    const named = job.spec.template.spec.volumes.map(({ name }) => name);
    expect(container!.volumeMounts.map(({ name }) => name)).toEqual(named);
  });

  it('has as many indices as its shards', () => {
    expect(container!.args.join('')).toContain(`--shard "$shard/${job.spec.completions}"`);
  });
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
