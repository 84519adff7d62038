// FAISS before 1.7.4 has no faiss::idx_t, which faiss-node's source uses.
#include <faiss/Index.h>
#if FAISS_VERSION_MAJOR == 1 && (FAISS_VERSION_MINOR < 7 || (FAISS_VERSION_MINOR == 7 && FAISS_VERSION_PATCH < 4))
namespace faiss {
using idx_t = Index::idx_t;
}
#endif
