/** Joins the words after `--` into one shell command. */

/**
 * A single word is a shell script already; several words are a command with its arguments, each quoted to keep it as
 * typed.
 */
export const shellCommand = (words: ReadonlyArray<string>): string =>
  words.length === 1 ? (words[0] ?? "") : words.map(quote).join(" ")

/** Returns the text quoted as one word of any POSIX shell. */
export const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
