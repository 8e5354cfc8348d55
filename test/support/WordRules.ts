/**
 * The rules of docs/words.md that a program can check: module headers, words in comments, names of constants and functions.
 * Each rule carries a text that breaks it.
 */
import { perFile, type Rule } from "./Rule.ts"
import type { Source } from "./Sources.ts"

/** Words that a reader parses twice, with the plain word to use. */
const BANNED_WORDS: ReadonlyArray<readonly [word: RegExp, instead: string]> = [
  [/\b(told|tells?)\b/i, "notify, report, send, say, name"],
  [/\b(whoever|somebody|nobody)\b/i, "the caller, a reader, no replica: name the subject"],
  [/\b(is|are|was) said again\b/i, "is retried, is repeated"],
  [/\bby the (thousand|many)\b/i, "a number"],
  [/\blets? go( of)?\b/i, "releases, frees"],
  [/\bhands? back\b/i, "returns, releases"],
  [/\bis through\b/i, "has ended, is done"],
  [/\bof late\b/i, "in the last ..."],
  [/\bthereby\b/i, "so"],
  [/\bnor\b/i, "and not, or"]
]

const HEADER = /^(?:#!.*\n)?\/\*\*?\s*(?:\*\s*)?([A-Z]\w*)/
const RELATIVE = /^(What|Who|Whom|Whose|Whether|Where|Which|How|Why|When)$/
const OPENING = /(?:\/\*\*|\/\/)\s*((?:What|Who|Whoever|Whom|Whose|Whether|Where|Which|How)\b[^\n]{0,30})/g
const PARTICIPLE =
  /^export (?:async )?(?:const|function) ([a-z]+(?:ed|ept)|told|held|kept|bound|made|said|read|put|sent|left|cut)\b(?: = (?:async )?(?:<[^=]*>)?\(|\()/gm

/** The text of every comment, in one string. */
const commentsOf = ({ text }: Source): string =>
  [...text.matchAll(/^[ \t]*\/\*[\s\S]*?\*\/|(?:^|\s)\/\/[^\n]*/gm)].map(([comment]) => comment).join("\n")

/** Folders whose comments are not rewritten yet. Remove a folder once it obeys the rules. */
const PENDING = ["packages/providers/", "packages/simulation/", "packages/testing/"]
/** This file lists the words, so it cannot obey the rule. */
const isChecked = ({ path }: Source) =>
  path !== "test/support/WordRules.ts" && !PENDING.some((folder) => path.startsWith(folder))

export const wordRules: ReadonlyArray<Rule> = [
  {
    title: "a module header begins with its subject",
    instead: "say what the module does, with a noun or a verb first (docs/words.md, rule 3)",
    find: perFile(isChecked, ({ text }) => {
      const first = HEADER.exec(text)?.[1]
      return first !== undefined && RELATIVE.test(first) ? [`begins with "${first}"`] : []
    }),
    breaks: ["packages/domain/src/jobs/A.ts", "/** What a job costs. */\nexport const a = 1"]
  },
  {
    title: "a comment begins with its subject",
    instead: "say what is returned, changed or bounded, with a noun or a verb first",
    find: perFile(isChecked, (source) =>
      [...commentsOf(source).matchAll(OPENING)].map(([, words]) => `begins with "${words}"`)
    ),
    breaks: ["packages/domain/src/jobs/A.ts", "/** A job. */\n/** Whether it has ended. */\nexport const a = 1"]
  },
  {
    title: "comments use plain words",
    instead: "use the word in brackets, or the field's fixed term (docs/words.md)",
    find: perFile(isChecked, (source) => {
      const comments = commentsOf(source)
      return BANNED_WORDS.flatMap(([word, instead]) => {
        const found = word.exec(comments)?.[0]
        return found === undefined ? [] : [`"${found}" (${instead})`]
      })
    }),
    breaks: ["packages/domain/src/jobs/A.ts", "// Whoever asks is told.\nexport const a = 1"]
  },
  {
    title: "a constant that bounds something is MAX_ or MIN_",
    instead: "MAX_ instead of MOST_, MIN_ instead of LEAST_",
    find: perFile(isChecked, ({ code }) => [...new Set(code.match(/\b(MOST|LEAST)(_[A-Z_]+)?\b(?!")/g) ?? [])]),
    breaks: ["packages/domain/src/jobs/A.ts", "const MOST_BYTES = 1"]
  },
  {
    title: "an exported function begins with a verb",
    instead: "rewriteHostReads instead of determined (docs/words.md, rule 6)",
    find: perFile(isChecked, ({ code }) => [...code.matchAll(PARTICIPLE)].map(([, name]) => name ?? "")),
    breaks: ["packages/machine-shell/src/core/A.ts", "export const determined = (text: string) => text"]
  }
]
