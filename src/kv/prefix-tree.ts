import { commonLength, type TokenId } from '../engine/token-id.ts';
import { type Evictable, type EvictionPolicy, EvictionQueue } from './eviction-queue.ts';

/** How a tree handles the KV of a span of tokens. */
export interface SpanKv<Kv> {
  /** Cuts the KV of a span before its token `at`; the given KV is not used afterwards. */
  readonly split: (kv: Kv, at: number) => readonly [Kv, Kv];
  readonly sizeBytes: (kv: Kv) => number;
  /** Tokens that would be evaluated again, if an id stands for several. Default: one per id. */
  readonly tokens?: (kv: Kv) => number;
  /** Called for KV that leaves the tree. */
  readonly erase: (kv: Kv) => void;
}

/** A prompt, and who may find its KV. */
export interface PromptPath {
  readonly tokenIds: readonly TokenId[];
  /** Number of leading tokens whose KV every scope may find; the KV of later tokens only the same `scope`. */
  readonly sharedTokens: number;
  readonly scope: string;
}

/** An owner's text in a prompt. All KV from the token `start` on depends on it. */
export interface OwnedText {
  readonly owner: string;
  readonly start: number;
}

/** A part of a prompt with KV in the tree. */
export interface MatchedSpan<Kv> {
  readonly kv: Kv;
  /** Number of the first tokens of this KV that the prompt has too. */
  readonly tokens: number;
}

interface Node<Kv> extends Evictable {
  parent: Node<Kv> | null;
  /** The name of the node among its siblings. */
  readonly branch: string;
  readonly tokenIds: readonly TokenId[];
  readonly kv: Kv;
  readonly sizeBytes: number;
  /** Token of the prompt at which each owner's text begins. */
  readonly owners: Map<string, number>;
  readonly children: Map<string, Node<Kv>>;
}

/**
 * A prefix cache as servers have it: a radix tree of tokens whose nodes hold the KV of their span, with one bound in bytes
 * for all users. A prefix that prompts share is stored once. Only leaves are evicted.
 * @see SGLang's RadixAttention, arXiv 2312.07104
 */
export class PrefixTree<Kv> {
  readonly #maxBytes: number;
  readonly #spanKv: SpanKv<Kv>;
  readonly #roots = new Map<string, Node<Kv>>();
  readonly #leaves: EvictionQueue<Node<Kv>>;
  #entries = 0;
  #sizeBytes = 0;
  #evicted = 0;

  constructor(maxBytes: number, spanKv: SpanKv<Kv>, policy?: EvictionPolicy) {
    this.#maxBytes = maxBytes;
    this.#spanKv = spanKv;
    this.#leaves = new EvictionQueue(policy);
  }

  /** The KV of the longest known prefix of a prompt, in order. Valid until the tree changes. */
  match(path: PromptPath): readonly MatchedSpan<Kv>[] {
    return this.#walk(path).map(({ node, tokens }) => {
      this.#leaves.use(node);
      return { kv: node.kv, tokens };
    });
  }

  /** Tokens of a prompt whose KV is in the tree. */
  knownTokens(path: PromptPath): number {
    return this.#walk(path).reduce((sum, { tokens }) => sum + tokens, 0);
  }

  /**
   * Adds the KV of a prompt after its known prefix, then evicts down to the bound.
   * @param kv makes the KV of a range of its tokens
   */
  insert(path: PromptPath, texts: readonly OwnedText[], kv: (start: number, end: number) => Kv): void {
    let [parent, end]: [Node<Kv> | null, number] = [null, 0];
    for (const { node, tokens } of this.#walk(path)) {
      end += tokens;
      parent = tokens < node.tokenIds.length && end < path.tokenIds.length ? this.#split(node, tokens, end) : node;
      addOwners(parent, texts, end);
    }
    for (const next of [path.sharedTokens, path.tokenIds.length]) {
      if (next <= end) continue;
      const about = { parent, branch: branchAt(path, end), tokenIds: path.tokenIds.slice(end, next) };
      parent = this.#node(about, kv(end, next));
      addOwners(parent, texts, next);
      this.#leaves.use(parent);
      this.#add(parent);
      end = next;
    }
    this.#evict();
  }

  /** Deletes all KV with text of one of these owners. @returns the number of deleted spans */
  forget(isForgotten: (owner: string) => boolean): number {
    const before = this.#entries;
    const affected = (node: Node<Kv>): Node<Kv>[] =>
      [...node.owners.keys()].some(isForgotten) ? [node] : [...node.children.values()].flatMap(affected);
    for (const node of [...this.#roots.values()].flatMap(affected)) this.#delete(node);
    return before - this.#entries;
  }

  clear(): void {
    for (const root of this.#roots.values()) this.#delete(root);
  }

  stats(): Readonly<Record<'evicted' | 'entries' | 'sizeBytes' | 'maxBytes', number>> {
    const sizes = { entries: this.#entries, sizeBytes: this.#sizeBytes, maxBytes: this.#maxBytes };
    return { evicted: this.#evicted, ...sizes };
  }

  #walk(path: PromptPath): { readonly node: Node<Kv>; readonly tokens: number }[] {
    const found: { node: Node<Kv>; tokens: number }[] = [];
    let end = 0;
    let node = this.#roots.get(branchAt(path, 0));
    while (node !== undefined) {
      const tokens = commonTokens(node, path, end);
      found.push({ node, tokens });
      end += tokens;
      node = tokens === node.tokenIds.length ? node.children.get(branchAt(path, end)) : undefined;
    }
    return found;
  }

  #add(node: Node<Kv>): Node<Kv> {
    const { parent, branch, children, sizeBytes } = node;
    if (parent !== null) this.#leaves.delete(parent);
    (parent?.children ?? this.#roots).set(branch, node);
    if (children.size === 0) this.#leaves.add(node);
    this.#entries++;
    this.#sizeBytes += sizeBytes;
    return node;
  }

  /** Removes a node and its descendants, and erases their KV. */
  #delete(node: Node<Kv>): void {
    for (const child of node.children.values()) this.#delete(child);
    this.#remove(node);
    this.#spanKv.erase(node.kv);
    const { parent } = node;
    if (parent?.children.size === 0) this.#leaves.add(parent);
  }

  #remove(node: Node<Kv>): void {
    (node.parent?.children ?? this.#roots).delete(node.branch);
    this.#leaves.delete(node);
    this.#entries--;
    this.#sizeBytes -= node.sizeBytes;
  }

  /** Splits a node before its token `at`. @param end tokens of the prompt up to there @returns the first part */
  #split(node: Node<Kv>, at: number, end: number): Node<Kv> {
    const { parent, branch, tokenIds, owners, usedAt } = node;
    this.#remove(node);
    const [first, second] = this.#spanKv.split(node.kv, at);
    const before = new Map([...owners].filter(([, start]) => start < end));
    const front = { usedAt, owners: before, parent, branch, tokenIds: tokenIds.slice(0, at) };
    const head = this.#add(this.#node(front, first));
    // No node crosses the end of the shared tokens, so both parts have the same kind of branch.
    const rest = { parent: head, branch: sameKind(branch, tokenIds[at]!), tokenIds: tokenIds.slice(at) };
    const tail = this.#node({ usedAt, owners, ...rest, children: node.children }, second);
    for (const child of tail.children.values()) child.parent = tail;
    this.#add(tail);
    return head;
  }

  #node(
    about: Pick<Node<Kv>, 'parent' | 'branch' | 'tokenIds'> & Partial<Pick<Node<Kv>, 'usedAt' | 'owners' | 'children'>>,
    kv: Kv,
  ): Node<Kv> {
    const sizeBytes = this.#spanKv.sizeBytes(kv);
    const own = { usedAt: 0, owners: new Map<string, number>(), children: new Map<string, Node<Kv>>() };
    const tokens = this.#spanKv.tokens?.(kv) ?? about.tokenIds.length;
    return { ...own, ...about, kv, sizeBytes, tokens };
  }

  #evict(): void {
    while (this.#sizeBytes > this.#maxBytes) {
      this.#delete(this.#leaves.next()!);
      this.#evicted++;
    }
  }
}

/** The name of the branch that a prompt takes after its first `at` tokens. */
function branchAt({ tokenIds, sharedTokens, scope }: PromptPath, at: number): string {
  return `${tokenIds[at]} ${at < sharedTokens ? 'shared' : `of ${scope}`}`;
}

function sameKind(branch: string, token: TokenId): string {
  return `${token}${branch.slice(branch.indexOf(' '))}`;
}

/** How many tokens of a node a prompt has from its token `start` on, up to the end of its shared tokens. */
function commonTokens<Kv>(node: Node<Kv>, { tokenIds, sharedTokens }: PromptPath, start: number): number {
  const end = start < sharedTokens ? sharedTokens : tokenIds.length;
  return commonLength(node.tokenIds, tokenIds.slice(start, Math.min(end, start + node.tokenIds.length)));
}

function addOwners<Kv>({ owners }: Node<Kv>, texts: readonly OwnedText[], end: number): void {
  for (const { owner, start } of texts) if (start < end) owners.set(owner, Math.min(start, owners.get(owner) ?? start));
}
