import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { runBench } from '../../src/bench/run-bench.ts';
import { exportTurnKv } from '../../src/eval/run/attribution/turn-replay.ts';
import { storedSequence } from '../../src/eval/run/attribution/turn-replay.ts';
import { externalKvName } from '../../src/kv/external-kv-file.ts';
import { errorLike } from '../fixtures/error-like.ts';
import { failedChecks } from './bench-fixture.ts';
import { answeredTurns, finishedRun } from './finished-run.ts';

/** Arms whose KV is exported, and the folders of their files. */
const exported = [
  ['dki', 'prefix'],
  ['dki-blocks', 'blocks'],
  ['dki-evict-knorm:.5', 'evicted'],
] as const;

const finished = await finishedRun(['rag', ...exported.map(([arm]) => arm)], 4);
afterAll(() => finished[Symbol.asyncDispose]());
const folder = finished.folder.file('kv');
for (const [arm, name] of exported) {
  await mkdir(join(folder, name), { recursive: true });
  for (const turn of finished.turnsOf(arm)) {
    const file = await exportTurnKv(turn, finished.engine);
    if (file !== undefined) await writeFile(join(folder, name, file.name), file.bytes);
  }
}

const external = exported.map(([, name]) => `dki-external:${name}`);
const config = { ...finished.config, arms: ['rag', ...external], externalKv: folder, run: 'external' };

it('answers bit for bit as the arms whose KV was exported, and claims no origin', async () => {
  const [results] = await runBench(config);
  for (const [arm, name] of exported) {
    const own = answeredTurns(config, 'external', `dki-external:${name}`);
    const given = (turns: typeof own) =>
      turns.map(({ itemId, answer, observed }) => [itemId, answer.tokenIds, observed.goldTokens, observed.nextTokens]);
    expect(given(own)).toEqual(given(finished.turnsOf(arm)));
    const injecting = own.filter(({ prefill }) => prefill !== null);
    expect(injecting.length).toBeGreaterThan(0);
    for (const { tokens, account, prefill } of injecting) {
      expect([account.cache, tokens.evaluated]).toEqual(['hit', account.evaluated]);
      expect(prefill).toMatchObject({ strategy: 'prefix', origin: 'disk', tokens: tokens.kvResident });
    }
    const [first] = injecting;
    expect(() => storedSequence(first!)).toThrow(/its KV came from the file [0-9a-f]{16}-[0-9a-f]{16}\.safetensors/);
  }
  expect(failedChecks(results!)).toEqual([]);
  const status = (name: string) => results!.checks.find(({ check }) => check === name)!;
  expect(status('cells')).toMatchObject({
    status: 'undecided',
    evidence: `the cells of ${external.join(', ')} were not compared: they were made elsewhere; their shape, numbers, positions and model are verified at each load`,
  });
  expect(status('token accounting').evidence).toBe('no arm injects a KV cache of its own');
  expect(status('token identity').status).toBe('undecided');
});

it('exports the turns of an arm on the command line', async () => {
  const to = join(folder, 'commanded');
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await runProgram(['kv', 'export', '--db', config.db, '--run', 'small', '--arm', 'dki', '--to', to, '--json']);
  } finally {
    write.mockRestore();
  }
  const names = await readdir(join(folder, 'prefix'));
  expect(await readdir(to)).toEqual(names);
  for (const name of names)
    expect(await readFile(join(to, name))).toEqual(await readFile(join(folder, 'prefix', name)));
});

it('takes one file of a user for every prompt, and names the files that are missing', async () => {
  const [turn] = finished.turnsOf('dki-evict-knorm:.5');
  const file = (await exportTurnKv(turn!, finished.engine))!;
  const arms = ['rag', 'dki-external:user'];
  const missing = runBench({ ...config, arms, run: 'missing' });
  await expect(missing).rejects.toMatchObject(errorLike('not-found', /no KV file for user \S+: neither \S+ nor \S+$/));
  await mkdir(join(folder, 'user'));
  for (const { userId } of finished.turnsOf('rag')) {
    await writeFile(join(folder, 'user', externalKvName(userId)), file.bytes);
  }
  const [results] = await runBench({ ...config, arms, run: 'whole' });
  expect(failedChecks(results!)).toEqual([]);
  const resident = answeredTurns(config, 'whole', 'dki-external:user').map(({ tokens }) => tokens.kvResident);
  expect(new Set(resident)).toEqual(new Set([file.cells]));
});

it('is refused without a folder of files, and with settings that would change KV', async () => {
  const { externalKv: _, ...without } = config;
  const refused = runBench({ ...without, arms: ['rag', 'dki-external:prefix'], run: 'without' });
  await expect(refused).rejects.toMatchObject(errorLike('bad-model', '--external-kv names no folder'));
  const scaled = runBench({ ...config, arms: ['rag', 'dki-external:prefix@alpha=0.5'], run: 'scaled' });
  await expect(scaled).rejects.toMatchObject(errorLike('bad-option', 'injects KV as it is in the files'));
});
