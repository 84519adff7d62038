import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { releasedChangelog, releasedCitation } from './release.ts';

const changelog =
  '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A way to say hello.\n\n## [0.1.0] - 2026-01-02\n\n- All.\n';

describe('the changelog of a release', () => {
  it('gives what is unreleased to the version, and begins anew', () => {
    expect(releasedChangelog(changelog, '0.2.0', '2026-03-04')).toBe(
      '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n### Added\n\n- A way to say hello.\n\n## [0.1.0] - 2026-01-02\n\n- All.\n',
    );
  });

  it.each([
    ['a version that it has', changelog, '0.1.0', 'has ## [0.1.0]'],
    ['nothing that is unreleased', changelog.replace('- A way to say hello.', ''), '0.2.0', 'says nothing under'],
    ['no place for it', changelog.replace('[Unreleased]', '[Next]'), '0.2.0', 'has no ## [Unreleased]'],
  ])('is refused with %s', (_, text, version, message) => {
    expect(() => releasedChangelog(text, version, '2026-03-04')).toThrow(`CHANGELOG.md ${message}`);
  });
});

it('names the version that is cited', () => {
  const cited = releasedCitation(readFileSync('CITATION.cff', 'utf8'), '9.8.7', '2031-02-03');
  expect(cited).toContain('\nversion: 9.8.7\ndate-released: 2031-02-03\n');
});
