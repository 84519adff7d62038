import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ProgramHost } from '../fixtures/program-host.ts';
import { tinyGguf, tinyHeader } from '../fixtures/tiny-gguf.ts';
import { TestFolder } from '../model/bench-fixture.ts';

it('a model that was imported is found by its name', async () => {
  using folder = new TestFolder();
  await using host = new ProgramHost(folder.path, { DKI_BENCH_CACHE: folder.file('cache') });
  writeFileSync(folder.file('mine.gguf'), tinyGguf(tinyHeader('qwen2')));
  expect(await host.run('models', 'import', 'mine.gguf')).toMatchObject({ code: 0, stderr: '' });
  const doctor = await host.run('doctor', '--model', 'mine', '--json');
  expect(JSON.parse(doctor.stdout)).toMatchObject({ model: { name: 'tiny', architecture: 'qwen2' } });
});
