/**
 * Normalizes the path of a request, so that every check after it sees one spelling. Takes time linear in the length,
 * for any input.
 */

/** Ids of open models contain slashes, and not every client encodes them: everything below `/v1/models/` is one id. */
const MODELS = "/v1/models/"

export const requestPath = (target: string): string =>
  encodeModelId(normalizeSpelling(target.startsWith("/") ? target : removeOrigin(target)))

/** Returns the host of an absolute-form target, which counts instead of the `Host` field (RFC 9112, 3.2.2). */
export const hostOfTarget = (target: string): string | undefined =>
  target.startsWith("/") ? undefined : /^https?:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(target)?.[1]

/** Removes the scheme and host of an absolute-form target, as clients send it to a proxy. */
const removeOrigin = (target: string): string => {
  const rest = target.replace(/^https?:\/\/[^/?#]*/i, "")
  return rest === target || rest.startsWith("/") ? rest : `/${rest}`
}

/**
 * The router ends a path at `;` and `#` and decodes percent-encoded letters, so a proxy that allows `/metrics;x` would
 * allow `/metrics`. Here the two characters are part of the path, and encoded letters are decoded before any check (RFC
 * 3986, 6.2.2.2).
 */
const normalizeSpelling = (url: string): string => {
  if (!/^[^?;#%]*[;#%]/.test(url)) return url
  const query = url.indexOf("?")
  const path = query < 0 ? url : url.slice(0, query)
  // The router knows no path with a broken percent code. Decoding a letter must not repair one.
  const isBroken = /%(?![\da-f]{2})/i.test(path)
  return (
    path.replace(isBroken ? /[;#]/g : /;|#|%[\da-f]{2}/gi, normalizeCharacter) + (query < 0 ? "" : url.slice(query))
  )
}

const normalizeCharacter = (found: string): string => {
  if (found === ";") return "%3B"
  if (found === "#") return "%23"
  const letter = String.fromCharCode(Number.parseInt(found.slice(1), 16))
  return /[\w.~-]/.test(letter) ? letter : found
}

const encodeModelId = (url: string): string => {
  if (!url.startsWith(MODELS)) return url
  const query = url.indexOf("?")
  let end = query < 0 ? url.length : query
  while (url[end - 1] === "/") end -= 1
  const id = url.slice(MODELS.length, end)
  return id.includes("/") ? MODELS + id.replaceAll("/", "%2F") + (query < 0 ? "" : url.slice(query)) : url
}
