import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { diskErrorHint } from '../base/disk-error-hint.ts';
import { BenchError } from '../base/bench-error.ts';
import { loadBenchConfig } from '../bench/load-config.ts';
import { selectEngineForRuns } from '../bench/select-engine.ts';
import { exportTurnKv } from '../eval/run/attribution/turn-replay.ts';
import { loadRunModel } from '../eval/run/attribution/load-run-model.ts';
import { TurnRepository } from '../store/turn-repository.ts';
import { addConfigOptions, type Flags, type JsonFlag, subcommand, withExamples } from './options.ts';
import { displayPath, printResult } from './output.ts';
import { findRun, openStoredRuns } from './stored-runs.ts';
import { withInterrupt } from './with-interrupt.ts';

type ExportFlags = Flags & JsonFlag & Readonly<{ run?: string; arm: string; item?: string; to: string }>;

export function declare(command: Command): void {
  command.description('export KV as files that other programs read, and that dki-external reads back');
  withExamples(command, {
    'kv export --run mine --arm dki --to kv/own': 'the KV that each turn of dki injected, a file for each prefix',
    'kv export --arm full --item u01-q01 --to kv/all': 'all memories of a user, from a run of the arm full',
    'bench --arms rag,dki,dki-external:own --external-kv kv': 'the same questions with the KV of these files',
  });
  const exported = subcommand(
    command,
    'export',
    'compute again and write the KV of the header and memories of stored turns; docs/methods/external-kv.md describes the files',
  );
  addConfigOptions(exported, ['out', 'db', 'model'])
    .option('--run <name>', 'name of the run (default: the latest)')
    .option('--arm <name>', 'arm whose turns are exported; full: all memories of a user that fit', 'dki')
    .option('--item <id>', 'item whose turns are exported (default: all)')
    .requiredOption('--to <dir>', 'folder to write to')
    .action((flags: ExportFlags) => withInterrupt((signal) => exportKv(flags, signal)));
}

async function exportKv({ run: name, arm, item, to, json, ...flags }: ExportFlags, signal: AbortSignal): Promise<void> {
  const config = loadBenchConfig({ flags });
  using database = openStoredRuns(config.db, { readOnly: true });
  const run = findRun(database, name);
  const repository = new TurnRepository(database);
  const listed = [...repository.listForResults(run.id)].filter((turn) => turn.arm === arm && turn.state === 'answered');
  const items = [...new Set(listed.map(({ itemId }) => itemId))].filter((id) => item === undefined || id === item);
  if (items.length === 0) {
    const message = `run "${run.name}" has no answered turn of ${arm}${item === undefined ? '' : ` on item ${item}`}`;
    throw new BenchError('not-found', message, 'name others with --run, --arm and --item; inspect shows them');
  }
  await using engine = await loadRunModel(run, config.model, selectEngineForRuns(config));
  const written = new Map<string, Readonly<Record<'cells' | 'bytes', number>>>();
  for (const id of items) {
    for (const turn of repository.find(run.id, id, arm)) {
      signal.throwIfAborted();
      const exported = turn.state === 'answered' ? await exportTurnKv(turn, engine) : undefined;
      if (exported === undefined || written.has(exported.name)) continue;
      await writeKvFile(to, exported.name, exported.bytes);
      written.set(exported.name, { cells: exported.cells, bytes: exported.bytes.length });
    }
  }
  const files = [...written].map(([file, size]) => ({ file, ...size }));
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  printResult(json, { run: run.name, arm, folder: to, files }, () => [
    `${displayPath(to)}: ${files.length} files, ${Math.ceil(total / 1e6)} MB, from ${items.length} items of ${arm}`,
  ]);
}

/** @throws BenchError `disk` */
async function writeKvFile(folder: string, name: string, bytes: Uint8Array): Promise<void> {
  const path = join(folder, name);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(path, bytes, { mode: 0o600 });
  } catch (cause) {
    throw new BenchError('disk', `${path}: cannot be written`, diskErrorHint(cause, folder), cause);
  }
}
