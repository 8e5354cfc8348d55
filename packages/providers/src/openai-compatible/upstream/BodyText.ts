/** The JSON of a request's body: what is undefined, or refused by the server, is left out. */
import type { Omittable } from "../catalog/CatalogFile.ts"

export const bodyText = (fields: Readonly<Record<string, unknown>>, omit: ReadonlySet<Omittable>): string =>
  JSON.stringify(omit.size === 0 ? fields : Object.fromEntries(kept(fields, omit)))

/** The fields that are to be sent. */
export const kept = (
  fields: Readonly<Record<string, unknown>>,
  omit: ReadonlySet<Omittable>
): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(fields).filter(([name, value]) => value !== undefined && !(omit as ReadonlySet<string>).has(name))
