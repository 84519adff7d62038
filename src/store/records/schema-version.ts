/** Version of all records: of turns, of runs and of results. From 1 on, reading upgrades older ones. */
export const schemaVersion = 1;
