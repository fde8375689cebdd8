// What was met of the trees over which signatures are: a record that comes with others is hashed up to what is known of its tree.
//
// Boundary: arithmetic and a memory of its results. That a node with this path leads to this root is true whoever says it; whether
// anybody signed the root is asked elsewhere.
//
// Invariants
//   M1. The root of a record is what its own path leads to, as `rootFrom` has it: what is known only spares the hashing.
import { HASH_SIZE, nodeHash } from '@recourse/chain';

/** A node that was met, with the path it has to its root. */
interface MetNode {
  readonly hash: Buffer;
  /** The sibling, then what is above both; views of paths as they came. */
  readonly sibling: Buffer;
  readonly above: Buffer;
  readonly root: Buffer;
}
type MetTree = Map<number, MetNode>;

/** A leaf among others, and its audit path: hashes one behind the other. */
export interface PlacedLeaf {
  readonly leaf: Buffer;
  readonly index: number;
  readonly size: number;
  readonly path: Buffer;
}

/** Where a node lies, its hash, and what of the path is left. */
interface Step {
  height: number;
  node: number;
  last: number;
  hash: Buffer;
  rest: Buffer;
}

/** More than any tree is wide. */
const WIDTH = 1 << 16;
const TREES_MAX = 16;

export class MetTrees {
  readonly #trees = new Map<string, MetTree>();
  #last: { readonly signature: Buffer; readonly size: number; readonly tree: MetTree } | null = null;

  /** Root of the tree of which a leaf is a part; null when no such tree has a path of that length. `signature`: said to be over the root. */
  rootOf(signature: Buffer, { leaf, index, size, path }: PlacedLeaf): Buffer | null {
    if (!Number.isInteger(index) || index < 0 || index >= size) return null;
    const tree = this.#tree(signature, size);
    const met: (readonly [number, Omit<MetNode, 'root'>])[] = [];
    const at: Step = { height: 0, node: index, last: size - 1, hash: leaf, rest: path };
    let root: Buffer | null = null;
    while (at.rest.length > 0 && root === null) {
      if (at.last === 0) return null;
      skipAlone(at);
      root = knownRoot(tree.get(at.height * WIDTH + at.node), at);
      if (root === null) met.push(...climb(at));
    }
    root ??= at.last === 0 ? at.hash : null;
    if (root !== null) for (const [place, node] of met) tree.set(place, { ...node, root });
    return root;
  }

  #tree(signature: Buffer, size: number): MetTree {
    if (this.#last?.signature === signature && this.#last.size === size) return this.#last.tree;
    const tree = this.#named(`${String(size)} ${signature.toString('latin1')}`);
    this.#last = { signature, size, tree };
    return tree;
  }

  #named(name: string): MetTree {
    const known = this.#trees.get(name);
    if (known !== undefined) return known;
    const tree: MetTree = new Map();
    this.#trees.set(name, tree);
    if (this.#trees.size > TREES_MAX) this.#trees.delete([...this.#trees.keys()][0] ?? '');
    return tree;
  }
}

/** The last of a row that is odd stands alone until there is somebody to its left. */
function skipAlone(at: Step): void {
  while (at.node === at.last && at.node % 2 === 0 && at.node !== 0) rise(at);
}

function rise(at: Step): void {
  at.height += 1;
  at.node >>>= 1;
  at.last >>>= 1;
}

function knownRoot(known: MetNode | undefined, { hash, rest }: Step): Buffer | null {
  return known?.hash.equals(hash) === true &&
    rest.subarray(0, HASH_SIZE).equals(known.sibling) &&
    rest.subarray(HASH_SIZE).equals(known.above)
    ? known.root
    : null;
}

/** Hashes a node with its sibling, and tells both. */
function climb(at: Step): readonly (readonly [number, Omit<MetNode, 'root'>])[] {
  const { height, node, hash, rest } = at;
  const sibling = rest.subarray(0, HASH_SIZE);
  const above = rest.subarray(HASH_SIZE);
  const isRight = node % 2 === 1;
  at.hash = isRight ? nodeHash(sibling, hash) : nodeHash(hash, sibling);
  at.rest = above;
  rise(at);
  return [
    [height * WIDTH + node, { hash, sibling, above }],
    [height * WIDTH + (isRight ? node - 1 : node + 1), { hash: sibling, sibling: hash, above }],
  ];
}
