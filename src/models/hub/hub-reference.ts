import { BenchError } from '../../base/bench-error.ts';

/** Prefix of names on the hub: `hf:org/repo/file.gguf`, or `hf:org/repo` for all files of a model. */
export const hubPrefix = 'hf:';

/** The name of a commit. */
export const COMMIT = /^[0-9a-f]{40}$/;

const PART = '[A-Za-z0-9][A-Za-z0-9._-]*';
const REFERENCE = new RegExp(`^${hubPrefix}(${PART})/(${PART})(?:@(${PART}))?(?:/(${PART}(?:/${PART})*))?$`);

/** A repository, in a branch, a tag or a commit; `name` is as given, without a file. */
export type HubRepository = Readonly<Omit<ReturnType<typeof parseHubReference>, 'file'>>;

/**
 * Parses `hf:org/repo[@revision]` with or without `/folder/file`. No part can leave the folder of the cache.
 * @throws BenchError `bad-option` for any other form
 */
export function parseHubReference(name: string) {
  const [, organisation, repository, revision = 'main', file] = REFERENCE.exec(name) ?? [];
  if (organisation === undefined || repository === undefined) {
    throw new BenchError(
      'bad-option',
      `${name}: not a valid name on the hub`,
      'write hf:org/repo/file.gguf for a model, hf:org/repo for an embedder; hf:org/repo@revision/… for a revision',
    );
  }
  const own = file === undefined ? name : name.slice(0, -file.length - 1);
  return { name: own, organisation, repository, revision, file };
}
