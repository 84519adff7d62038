/** What the script of a page is told while influences are computed, a line of JSON each. */
export type InfluenceNews =
  | { readonly state: 'computing'; readonly done: number; readonly of: number }
  | { readonly state: 'done' }
  | { readonly state: 'failed'; readonly message: string; readonly hint: string };

/** How a page asks to be told. */
export const newsType = 'application/x-ndjson';
