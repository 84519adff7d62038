import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { moveOver, readRegularFile, removeAny } from '../../../base/read-remove-rename-files.ts';
import type { BenchConfig } from '../../../config/bench-config.ts';
import { cacheFolder } from '../../../config/cache-folder.ts';
import type { EngineInfo } from '../../../engine/engine-info.ts';
import { kernelChoice, nativeFile } from '../../../kv/kernels.ts';
import { cellsSelfTest, paritySelfTest } from '../../../store/records/run-probes.ts';
import { object } from '../../../store/records/zod-helpers.ts';
import type { ContinuedPrompt } from './engine-self-tests.ts';

const modelSelfTest = object({ parity: paritySelfTest, cells: cellsSelfTest.exactOptional() });
const storedSelfTest = object({ inputs: z.string(), testedAt: z.number(), tests: modelSelfTest });

/** What self-tests find out about a model on this machine: its rounding, and its cells if they can be read. */
export type ModelSelfTest = z.output<typeof modelSelfTest>;

type TestedEngine = Pick<
  EngineInfo,
  'engine' | 'build' | 'modelSha256' | 'stateIdentity' | 'threads' | 'compute' | 'contextTokens'
>;

export type SelfTestStore = ReturnType<typeof selfTestsIn>;

/**
 * Self-tests of models as files of a folder, one for each model and its settings. A result is found only for the same model,
 * settings, prompts, build, threads, CPU features and program; else its file is replaced. A damaged file counts as none.
 * @param options.fresh finds nothing, and replaces what is stored @param options.program digest of this program's files
 */
export function selfTestsIn(folder: string, { fresh = false, program = programDigest() } = {}) {
  const inputsOf = (engine: TestedEngine, prompts: readonly ContinuedPrompt[]): string => {
    const { build, modelSha256, stateIdentity, threads, compute, contextTokens } = engine;
    const settings = [engine.engine, build, modelSha256, stateIdentity, threads, compute, contextTokens];
    return digest([settings, process.version, cpuFeatures(), program, prompts]);
  };
  return {
    /** A stored result and when it was made, in ms since 1970. */
    find(engine: TestedEngine, prompts: readonly ContinuedPrompt[]): z.output<typeof storedSelfTest> | undefined {
      const name = fileName(engine);
      if (name === null || fresh) return undefined;
      try {
        const bytes = readRegularFile(join(folder, name));
        if (typeof bytes === 'string') return undefined;
        const stored = storedSelfTest.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
        return stored.data?.inputs === inputsOf(engine, prompts) ? stored.data : undefined;
      } catch {
        return undefined;
      }
    },
    keep(engine: TestedEngine, prompts: readonly ContinuedPrompt[], tests: ModelSelfTest): void {
      const name = fileName(engine);
      if (name === null) return;
      const stored = { inputs: inputsOf(engine, prompts), testedAt: Date.now(), tests };
      const written = join(folder, `${name}.${randomUUID()}`);
      try {
        mkdirSync(folder, { recursive: true });
        writeFileSync(written, JSON.stringify(stored));
        moveOver(written, join(folder, name));
      } catch {
        // Without a writable cache, the model is tested in every run.
        if (existsSync(written)) removeAny(written);
      }
    },
  };
}

/** The store in the cache folder; undefined for an engine of the caller's, which may change behind one description. */
export function selfTestStore(
  { freshSelfTest }: Pick<BenchConfig, 'freshSelfTest'>,
  { isOwnEngine }: { readonly isOwnEngine: boolean },
): SelfTestStore | undefined {
  return isOwnEngine ? selfTestsIn(join(cacheFolder(), 'self-tests'), { fresh: freshSelfTest }) : undefined;
}

/** Null for a model whose file or threads are unknown: its server may change between two runs. */
function fileName({ modelSha256, stateIdentity, threads, compute }: TestedEngine): string | null {
  if (modelSha256 === null || stateIdentity === null || threads === null) return null;
  return `${modelSha256.slice(0, 16)}-${digest([stateIdentity, threads, compute]).slice(0, 16)}.json`;
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Model and features of the CPU: llama.cpp chooses its kernels by them. */
function cpuFeatures(): readonly string[] {
  const file = '/proc/cpuinfo';
  const features = existsSync(file) ? /^(?:flags|Features)\s*:.*$/m.exec(readFileSync(file, 'utf8'))?.[0] : undefined;
  return [cpus()[0]?.model ?? 'unknown', features ?? ''];
}

/** SHA-256 of all files of this program and of its KV kernels, so that no result outlives a change of the code that made it. */
function programDigest(): string {
  const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const hash = createHash('sha256');
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).sort()) {
    hash.update(path.slice(root.length)).update(readFileSync(path));
  }
  return hash.update(kernelChoice().rejectedBackends ?? readFileSync(nativeFile)).digest('hex');
}
