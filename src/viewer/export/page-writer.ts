import type { Html } from '../../render/html-table.ts';
import { type Breadcrumb, layout, type PageKind } from '../layout.ts';
import type { Links } from '../links.ts';
import type { PagesFolder } from './export-folder.ts';
import { type ExportFiles, exportLinks } from './export-links.ts';

/** Restricts pages to files of the export; `file:` is named because Firefox takes no file for `'self'`. */
export const policy =
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
  readonly folder: PagesFolder;
  readonly files: ExportFiles;

  /** False for a report, which holds no turns. */
  readonly opensTurns: boolean;

  readonly #inSite: boolean;

  /** @param inSite the folder is one of a site, whose index stands above it */
  constructor(folder: PagesFolder, files: ExportFiles, opensTurns: boolean, inSite = false) {
    this.folder = folder;
    this.files = files;
    this.opensTurns = opensTurns;
    this.#inSite = inSite;
  }

  /** @throws BenchError `disk` */
  async write({ path, kind, title, breadcrumbs, body }: ExportedPage): Promise<void> {
    const links = exportLinks(this.files, path, { opensTurns: this.opensTurns, inSite: this.#inSite });
    const home = this.#inSite ? [{ text: 'Runs', href: links.runs() }] : [];
    const crumbs = [...home, ...(breadcrumbs?.(links) ?? [])];
    await this.folder.write(
      path,
      await layout({ title, links, breadcrumbs: crumbs, body: body(links), page: kind, policy }),
    );
  }
}
