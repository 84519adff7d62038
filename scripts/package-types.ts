import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { z } from 'zod';

const resolutions: Readonly<Record<string, ts.CompilerOptions>> = {
  nodenext: { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
  bundler: { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
};

const manifest = z.object({ exports: z.record(z.string(), z.unknown()) });

/**
 * Type-checks a project that uses an installed package: every subpath that it exports, and our examples.
 * @param folder an ES module project with the package installed
 * @param examples folder of TypeScript files that import the package by its name
 * @returns one line for each error, also in declarations of other packages that those of the package import
 */
export function typeErrors(folder: string, name: string, examples: string): string[] {
  const installed = join(folder, 'node_modules', name);
  const { exports } = manifest.parse(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')));
  const project = join(folder, 'project');
  cpSync(examples, project, { recursive: true });
  const imports = Object.keys(exports).map((path, i) => `export * as part${i} from '${name}${path.slice(1)}';\n`);
  writeFileSync(join(project, 'subpaths.ts'), imports.join(''));
  return Object.entries(resolutions).flatMap(([resolution, options]) =>
    errorsIn(project, options).map((error) => `moduleResolution ${resolution}: ${error}`),
  );
}

function errorsIn(project: string, options: ts.CompilerOptions): string[] {
  const program = ts.createProgram(ts.sys.readDirectory(project, ['.ts']), {
    ...options,
    target: ts.ScriptTarget.ES2023,
    types: [],
    strict: true,
    skipLibCheck: false,
    noEmit: true,
  });
  const found = ts.getPreEmitDiagnostics(program);
  return found.map(({ file, start, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, ' ');
    if (file === undefined) return text;
    return `${file.fileName}:${file.getLineAndCharacterOfPosition(start!).line + 1}: ${text}`;
  });
}
