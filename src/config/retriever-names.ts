/** Retrieval strategies that search a user's memories for a query. */
export const searchingRetrieverNames = ['router', 'tiered', 'salience', 'hinted'] as const;

/** Values of `--retriever`. `given` does not search: it returns the passages that each item of the data lists. */
export const retrieverNames = [...searchingRetrieverNames, 'given'] as const;
export type RetrieverName = (typeof retrieverNames)[number];

/** Strategies that also summarise what they retrieve; a prompt may show the summary instead of the memories. */
export const summarisingRetrieverNames: readonly RetrieverName[] = ['tiered'];
