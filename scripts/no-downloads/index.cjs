/**
 * Stands in for the proxy library that onnxruntime-node's install script begins with, and ends that script before it fetches
 * CUDA files, some hundred MB that no CPU needs: every npm runs or skips it alike, without a setting.
 */
exports.bootstrap = () => process.exit(0);
