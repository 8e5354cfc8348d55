/** Composes one SQL statement from named common table expressions. The text is made once, when its module loads. */

/** `ctes`: each the text `name as (...)`, or several of them joined by commas, in the order in which they may use each other. */
export const statement = (ctes: ReadonlyArray<string>, query: string): string => `with ${ctes.join(",\n")}\n${query}`
