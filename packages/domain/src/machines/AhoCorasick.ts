/**
 * An Aho-Corasick automaton: reads a text once and knows after each byte which of many words end there. Reading takes two
 * steps a byte at most on average, whatever the words and the text are.
 *
 * A node stands for the beginning of a word; nodes are numbered breadth first, so that the children of one stand in a row,
 * by their byte. That takes less than 20 bytes a node and a search among siblings, never a table or a map of 256.
 */
export const ROOT = 0

export interface Automaton {
  /** How many bytes a node stands for. */
  readonly depth: Int32Array
  /** The byte that leads to a node from its parent. */
  readonly byte: Uint8Array
  /** A node's first child; those of `node` end before the first of `node + 1`. */
  readonly children: Int32Array
  /** The node of the longest beginning of a word that the node's own bytes end with. */
  readonly fail: Int32Array
  /** Length of the longest whole word that the node's bytes end with; 0: none. */
  readonly longest: Int32Array
}

const compare = (a: Uint8Array, b: Uint8Array): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}

export const make = (unsorted: ReadonlyArray<Uint8Array>): Automaton => {
  const words = unsorted.toSorted(compare)
  const room = words.reduce((sum, word) => sum + word.length, 2)
  const depth = new Int32Array(room)
  const byte = new Uint8Array(room)
  const children = new Int32Array(room)
  const fail = new Int32Array(room)
  const longest = new Int32Array(room)
  const automaton = { depth, byte, children, fail, longest }
  // The words that begin with a node's bytes, from `low` to before `high`: sorted, they stand together.
  const low = new Int32Array(room)
  const high = new Int32Array(room)
  high[ROOT] = words.length
  let nodes = 1
  for (let node = ROOT; node < nodes; node++) {
    children[node] = nodes
    const length = depth[node]!
    let at = low[node]!
    longest[node] = longest[fail[node]!]!
    for (; at < high[node]! && words[at]!.length === length; at++) longest[node] = length
    while (at < high[node]!) {
      const child = nodes++
      const value = words[at]![length]!
      low[child] = at
      while (at < high[node]! && words[at]![length] === value) at++
      high[child] = at
      depth[child] = length + 1
      byte[child] = value
      // What a node fails to is shorter, so it is whole by now.
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

/** The node after one more byte of a text. */
export const next = (automaton: Automaton, node: number, value: number): number => {
  for (let at = node; ; at = automaton.fail[at]!) {
    const child = childOf(automaton, at, value)
    if (child !== undefined) return child
    if (at === ROOT) return ROOT
  }
}
