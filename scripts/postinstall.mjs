/**
 * Compiles what is faster native than in JavaScript or WebAssembly, where a compiler is there. One line for each part that takes
 * another way says so; nothing fails the install.
 */
import { prepareFaiss } from './faiss/prepare-faiss.mjs';
import { prepareKvKernels } from './kv-kernels/prepare-kv-kernels.mjs';

const parts = [
  [prepareFaiss, 'exact vector search by TypeScript instead of FAISS'],
  [prepareKvKernels, 'KV blocks are moved by WebAssembly instead of native kernels'],
];

for (const [prepare, otherwise] of parts) {
  let reason;
  try {
    reason = prepare();
  } catch (error) {
    reason = error.message;
  }
  if (reason !== null) console.log(`dki-bench: ${otherwise} (${reason})`);
}
