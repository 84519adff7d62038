import type { Html } from '../../report/html/html-table.ts';
import { type Breadcrumb, layout, type PageKind } from '../layout.ts';
import type { Links } from '../links.ts';
import type { ExportFolder } from './export-folder.ts';
import { type ExportFiles, exportLinks } from './export-links.ts';

/** Restricts pages to files of the export; `file:` is named because Firefox takes no file for `'self'`. */
const policy =
  "default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src 'self' file: data:; " +
  "base-uri 'none'; form-action 'none'";

/** A page before it is written. */
export interface ExportedPage {
  readonly path: string;
  readonly kind: PageKind;
  readonly title: string;
  readonly breadcrumbs?: (links: Links) => readonly Breadcrumb[];
  readonly body: (links: Links) => Html;
}

/** Writes pages that link to one another by the names of their files. */
export class PageWriter {
  readonly folder: ExportFolder;
  readonly files: ExportFiles;

  /** False for a report, which holds no turns. */
  readonly opensTurns: boolean;

  constructor(folder: ExportFolder, files: ExportFiles, opensTurns: boolean) {
    this.folder = folder;
    this.files = files;
    this.opensTurns = opensTurns;
  }

  /** @throws BenchError `disk` */
  async write({ path, kind, title, breadcrumbs, body }: ExportedPage): Promise<void> {
    const links = exportLinks(this.files, path, this.opensTurns);
    const crumbs = breadcrumbs?.(links) ?? [];
    await this.folder.write(
      path,
      await layout({ title, links, breadcrumbs: crumbs, body: body(links), page: kind, policy }),
    );
  }
}
