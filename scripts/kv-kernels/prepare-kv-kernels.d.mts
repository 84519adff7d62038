export function prepareKvKernels(): string | null;
