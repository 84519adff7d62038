/** Exit codes of the command line. */
export const exitCodes = { ok: 0, checkFailed: 1, badUsage: 2, belowBar: 3, bug: 70, interrupted: 130 } as const;
