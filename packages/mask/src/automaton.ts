/**
 * Searches many patterns in one pass (Aho-Corasick). A state is the longest prefix of a pattern that ends the text read
 * so far.
 */

/**
 * Children are linked lists: nearly every state has one child, and secrets may be long. 0 is the root, and also means
 * no child.
 */
type SecretTrie = {
  states: number
  root: Int32Array
  byteOf: Uint8Array
  firstChild: Int32Array
  sibling: Int32Array
  depth: Int32Array
  /** Length of the pattern that ends in this state; 0 for none. */
  whole: Int32Array
}

export class Automaton {
  readonly #trie: SecretTrie
  /** For each state: the state of the longest proper suffix that is a prefix of a pattern. */
  readonly #fail: Int32Array
  /** For each state: length of the longest pattern that ends here; 0 for none. */
  readonly longest: Int32Array
  /** For each state: length of the longest prefix that can still become a whole pattern. */
  readonly open: Int32Array

  constructor(patterns: readonly Uint8Array[]) {
    const trie = trieOf(patterns)
    this.#trie = trie
    this.#fail = new Int32Array(trie.states)
    this.longest = new Int32Array(trie.states)
    this.open = new Int32Array(trie.states)
    for (const state of this.#linked()) {
      const behind = this.#fail[state] ?? 0
      this.longest[state] = trie.whole[state] || (this.longest[behind] ?? 0)
      const isOpen = trie.firstChild[state] !== 0
      this.open[state] = (isOpen ? trie.depth[state] : this.open[behind]) ?? 0
    }
  }

  /** The state after one more byte. 0 is the state of no prefix. */
  next(state: number, byte: number): number {
    for (let at = state; at !== 0; at = this.#fail[at] ?? 0) {
      const child = childOf(this.#trie, at, byte)
      if (child !== 0) return child
    }
    return this.#trie.root[byte] ?? 0
  }

  /** All states but the root, shorter prefixes first, because failure links lead to shorter prefixes. */
  #linked(): Int32Array {
    const { states, firstChild, sibling, byteOf } = this.#trie
    const order = new Int32Array(states)
    let written = 1
    for (const state of order) {
      for (let child = firstChild[state] ?? 0; child !== 0; child = sibling[child] ?? 0) {
        if (state !== 0) this.#fail[child] = this.next(this.#fail[state] ?? 0, byteOf[child] ?? 0)
        order[written++] = child
      }
    }
    return order.subarray(1)
  }
}

function childOf({ firstChild, sibling, byteOf }: SecretTrie, state: number, byte: number): number {
  let child = firstChild[state] ?? 0
  while (child !== 0 && byteOf[child] !== byte) child = sibling[child] ?? 0
  return child
}

function trieOf(patterns: readonly Uint8Array[]): SecretTrie {
  const most = 1 + patterns.reduce((sum, { length }) => sum + length, 0)
  const trie: SecretTrie = {
    states: 1,
    root: new Int32Array(256),
    byteOf: new Uint8Array(most),
    firstChild: new Int32Array(most),
    sibling: new Int32Array(most),
    depth: new Int32Array(most),
    whole: new Int32Array(most),
  }
  for (const pattern of patterns) {
    let state = 0
    for (const byte of pattern) state = childOf(trie, state, byte) || addChild(trie, state, byte)
    trie.whole[state] = pattern.length
  }
  return trie
}

function addChild(trie: SecretTrie, state: number, byte: number): number {
  const child = trie.states++
  trie.byteOf[child] = byte
  trie.sibling[child] = trie.firstChild[state] ?? 0
  trie.firstChild[state] = child
  trie.depth[child] = (trie.depth[state] ?? 0) + 1
  if (state === 0) trie.root[byte] = child
  return child
}
