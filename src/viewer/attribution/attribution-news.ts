/** Progress of a leave-one-out attribution, as the server sends it to the script of a page: one line of JSON each. */
export type AttributionNews =
  | { readonly state: 'computing'; readonly done: number; readonly of: number }
  | { readonly state: 'done' }
  | { readonly state: 'failed'; readonly message: string; readonly hint: string };

/** Media type of these lines, by which a page asks for them. */
export const newsType = 'application/x-ndjson';
