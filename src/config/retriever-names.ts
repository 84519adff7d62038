/** Retrieval strategies that search a user's memories for a query. */
export const searchingRetrieverNames = ['router', 'tiered', 'salience', 'hinted'] as const;

/** Names of the retrieval strategies, as `--retriever` takes them; `given` takes the list of each item of the data. */
export const retrieverNames = [...searchingRetrieverNames, 'given'] as const;
export type RetrieverName = (typeof retrieverNames)[number];

/** Strategies that make a summary of what they retrieve, which a prompt may show in place of the memories. */
export const summarisingRetrieverNames: readonly RetrieverName[] = ['tiered'];
