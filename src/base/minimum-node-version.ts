import { BenchError } from './bench-error.ts';
import { packageJson } from './package-json.ts';

/** The oldest Node that runs this program, such as `22.14`. */
export const minimumNodeVersion = packageJson.engines.node.slice('>='.length);

/**
 * Throws on an older Node, on which native addons crash without a message.
 * @param version without the `v` @throws BenchError `unsupported`
 */
export function requireMinimumNode(version = process.versions.node): void {
  if (version.localeCompare(minimumNodeVersion, 'en', { numeric: true }) >= 0) return;
  throw new BenchError(
    'unsupported',
    `this is Node ${version}, and dki-bench needs Node ${minimumNodeVersion} or newer`,
    'npm install -g node@22; in a clone, npm ci installs it for every npm run',
  );
}
