import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runProcess, typescript } from '../test/fixtures/run-process.ts';
import { TestFolder } from '../test/model/bench-fixture.ts';

const changelog = '# Changelog\n\n## [Unreleased]\n\n- A way to say hello.\n';

let folder: TestFolder;
const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: folder.path, encoding: 'utf8' }).trim();
const write = (name: string, text: string) => writeFileSync(folder.file(name), text);
const read = (name: string) => readFileSync(folder.file(name), 'utf8');
const release = (...words: readonly string[]) =>
  runProcess([...typescript, join(import.meta.dirname, 'release.ts'), ...words], { cwd: folder.path });
const state = () => [git('status', '--porcelain'), git('log', '--format=%s'), git('tag')];

// A package whose page is drawn from a file, and whose check reads the packed version.
beforeAll(() => {
  folder = new TestFolder();
  const scripts = { prepare: 'cp README.md built.txt' };
  const mini = { name: 'mini', version: '0.1.0', type: 'module', license: 'MIT', files: ['built.txt'], scripts };
  mkdirSync(folder.file('scripts'));
  write(
    'scripts/readme-tables.ts',
    "import { copyFileSync } from 'node:fs';\ncopyFileSync('figure.txt', 'README.md');\n",
  );
  write('scripts/licences.ts', 'export {};\n');
  write('package.json', `${JSON.stringify(mini, null, 2)}\n`);
  execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts', '--silent'], { cwd: folder.path });
  write('CHANGELOG.md', changelog);
  write('CITATION.cff', 'version: 0.1.0\ndate-released: 2026-01-02\n');
  write('figure.txt', '42\n');
  write('README.md', '42\n');
  write('.gitignore', 'build/\nbuilt.txt\nnode_modules/\n');
  write(
    'scripts/check-package.ts',
    `import { execFileSync } from 'node:child_process';
    const packed = (name: string) => execFileSync('tar', ['-xzOf', process.argv[2]!, 'package/' + name], { encoding: 'utf8' });
    if (packed('built.txt') === 'broken\\n') process.exit(1);
    console.log('checked', JSON.parse(packed('package.json')).version);`,
  );
  git('init', '--quiet', '--initial-branch', 'main');
  git('config', 'user.name', 'Somebody');
  git('config', 'user.email', 'somebody@example.org');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Begin');
});
afterAll(() => folder[Symbol.dispose]());

it('a release is refused for a version that is none, is not above the present one, or has a tag', async () => {
  git('tag', 'v0.3.0');
  const refusals = ['next', '0.1.0', '0.3.0'].map((version) => release(version));
  const messages = (await Promise.all(refusals)).map(({ code, stderr }) => [code, stderr.split('\n')[0]]);
  expect(messages).toEqual([
    [2, '"next" is no version'],
    [2, '0.1.0 is not above 0.1.0, which package.json has'],
    [2, 'there is a tag v0.3.0'],
  ]);
  git('tag', '--delete', 'v0.3.0');
});

it('a release is refused where something is not committed', async () => {
  write('new.txt', 'new\n');
  expect(await release('0.2.0')).toMatchObject({ code: 2, stderr: expect.stringContaining('?? new.txt') });
  git('clean', '--quiet', '--force');
});

it('a release is refused where a page is not that of its report, and leaves it drawn anew', async () => {
  write('figure.txt', '43\n');
  git('commit', '--quiet', '--all', '--message', 'Count again');
  expect(await release('0.2.0')).toMatchObject({ code: 2, stderr: expect.stringContaining('README.md') });
  expect([git('status', '--porcelain'), read('README.md')]).toEqual(['M README.md', '43\n']);
  git('commit', '--quiet', '--all', '--message', 'Draw it again');
});

it('a release is undone where the package fails its check', async () => {
  write('figure.txt', 'broken\n');
  write('README.md', 'broken\n');
  git('commit', '--quiet', '--all', '--message', 'Break it');
  const before = state();
  const { code, stderr } = await release('0.2.0');
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^failed: .* scripts\/check-package\.ts /m)]);
  expect([state(), read('CHANGELOG.md')]).toEqual([before, changelog]);
  git('revert', '--no-edit', 'HEAD');
});

it('a release is tried and undone by --dry-run', async () => {
  const before = state();
  const { code, stdout } = await release('0.2.0', '--dry-run');
  expect([code, stdout]).toEqual([0, expect.stringContaining('checked 0.2.0\nbuild/mini-0.2.0.tgz would be 0.2.0')]);
  expect([state(), read('CHANGELOG.md')]).toEqual([before, changelog]);
});

it('a release is one commit and a tag, and what was checked is what was packed', async () => {
  const before = git('log', '--format=%s');
  const { code, stdout } = await release('0.2.0');
  expect([code, stdout]).toEqual([0, expect.stringContaining('checked 0.2.0\nbuild/mini-0.2.0.tgz is 0.2.0')]);
  expect(state()).toEqual(['', `Release 0.2.0\n${before}`, 'v0.2.0']);
  expect(git('rev-parse', 'v0.2.0^{commit}')).toBe(git('rev-parse', 'HEAD'));
  expect(git('show', '--name-only', '--format=')).toBe('CHANGELOG.md\nCITATION.cff\npackage-lock.json\npackage.json');
  for (const name of ['package.json', 'package-lock.json']) {
    expect(JSON.parse(read(name))).toMatchObject({ version: '0.2.0' });
  }
  const today = new Date().toISOString().slice(0, 10);
  expect(read('CHANGELOG.md')).toContain(`## [Unreleased]\n\n## [0.2.0] - ${today}\n`);
  expect(read('CITATION.cff')).toBe(`version: 0.2.0\ndate-released: ${today}\n`);
  expect(existsSync(folder.file('build/mini-0.2.0.tgz'))).toBe(true);
});
