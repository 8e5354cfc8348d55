/** The words after `--` as one shell command. */

/** One word is shell text already; several are a command with its arguments, each kept as it was typed. */
export const shellCommand = (words: ReadonlyArray<string>): string =>
  words.length === 1 ? (words[0] ?? "") : words.map(quote).join(" ")

/** Safe as one word in any POSIX shell. */
export const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
