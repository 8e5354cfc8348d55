/**
 * An Aho-Corasick automaton: reads a text once, and knows after each byte which of many words end there. Reading takes
 * at most two steps a byte on average, for any words and any text.
 *
 * A node stands for a prefix of a word. Nodes are numbered breadth first, so the children of a node are consecutive and
 * ordered by their byte. A node takes less than 20 bytes, and a step searches among siblings, instead of a table of 256
 * entries a node.
 */
export const ROOT = 0

export interface Automaton {
  /** The length of a node's prefix in bytes. */
  readonly depth: Int32Array
  /** The byte that leads to a node from its parent. */
  readonly byte: Uint8Array
  /** A node's first child. The children of `node` end before the first child of `node + 1`. */
  readonly children: Int32Array
  /** The node of the longest prefix of a word that is a proper suffix of the node's bytes. */
  readonly fail: Int32Array
  /** Length of the longest word that is a suffix of the node's bytes; 0: none. */
  readonly longest: Int32Array
}

const compare = (a: Uint8Array, b: Uint8Array): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}

export const make = (unsorted: ReadonlyArray<Uint8Array>): Automaton => {
  const words = unsorted.toSorted(compare)
  const maxNodes = words.reduce((sum, word) => sum + word.length, 2)
  const depth = new Int32Array(maxNodes)
  const byte = new Uint8Array(maxNodes)
  const children = new Int32Array(maxNodes)
  const fail = new Int32Array(maxNodes)
  const longest = new Int32Array(maxNodes)
  const automaton = { depth, byte, children, fail, longest }
  // The words that begin with a node's bytes are those from index `low` to before `high`: sorted words with a common
  // prefix are consecutive.
  const low = new Int32Array(maxNodes)
  const high = new Int32Array(maxNodes)
  high[ROOT] = words.length
  let nodes = 1
  for (let node = ROOT; node < nodes; node++) {
    children[node] = nodes
    const length = depth[node]!
    let index = low[node]!
    longest[node] = longest[fail[node]!]!
    for (; index < high[node]! && words[index]!.length === length; index++) longest[node] = length
    while (index < high[node]!) {
      const child = nodes++
      const value = words[index]![length]!
      low[child] = index
      while (index < high[node]! && words[index]![length] === value) index++
      high[child] = index
      depth[child] = length + 1
      byte[child] = value
      // The failure node is shorter, so it is complete already.
      if (node !== ROOT) fail[child] = next(automaton, fail[node]!, value)
    }
  }
  children[nodes] = nodes
  return automaton
}

export const hasChildren = ({ children }: Automaton, node: number): boolean => children[node]! < children[node + 1]!

const childOf = ({ byte, children }: Automaton, node: number, value: number): number | undefined => {
  let from = children[node]!
  let to = children[node + 1]!
  while (to - from > 1) {
    const middle = (from + to) >> 1
    if (byte[middle]! > value) to = middle
    else from = middle
  }
  return from < to && byte[from] === value ? from : undefined
}

/** Returns the node after one more byte of a text. */
export const next = (automaton: Automaton, node: number, value: number): number => {
  for (let current = node; ; current = automaton.fail[current]!) {
    const child = childOf(automaton, current, value)
    if (child !== undefined) return child
    if (current === ROOT) return ROOT
  }
}
