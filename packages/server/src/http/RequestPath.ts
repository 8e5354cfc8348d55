/**
 * The path and query of a request as everything after it is to see them, whatever the way they were written. Each takes time
 * in proportion to the length, whatever is in it.
 */

/** Ids of open models have slashes, and not every client encodes them: below `/v1/models/` all is one id. */
const MODELS = "/v1/models/"

export const requestPath = (target: string): string =>
  withModelInOne(inOneSpelling(target.startsWith("/") ? target : pathOf(target)))

/** Absolute-form targets (as sent to a proxy) name the host, too. */
const pathOf = (target: string): string => {
  const rest = target.replace(/^https?:\/\/[^/?#]*/i, "")
  return rest === target || rest.startsWith("/") ? rest : `/${rest}`
}

/**
 * The router ends a path at `;` and `#`, and reads letters from their percent codes: a proxy that lets `/metrics;x` through
 * lets `/metrics` through. Here the two are part of the path, and letters are letters (RFC 3986, 6.2.2.2) before anybody looks.
 */
const inOneSpelling = (url: string): string => {
  if (!/^[^?;#%]*[;#%]/.test(url)) return url
  const query = url.indexOf("?")
  const path = query < 0 ? url : url.slice(0, query)
  // A path with a broken code is none to the router: a letter must not make it whole.
  const isBroken = /%(?![\da-f]{2})/i.test(path)
  return path.replace(isBroken ? /[;#]/g : /;|#|%[\da-f]{2}/gi, spelling) + (query < 0 ? "" : url.slice(query))
}

const spelling = (found: string): string => {
  if (found === ";") return "%3B"
  if (found === "#") return "%23"
  const letter = String.fromCharCode(Number.parseInt(found.slice(1), 16))
  return /[\w.~-]/.test(letter) ? letter : found
}

const withModelInOne = (url: string): string => {
  if (!url.startsWith(MODELS)) return url
  const query = url.indexOf("?")
  let end = query < 0 ? url.length : query
  while (url[end - 1] === "/") end -= 1
  const id = url.slice(MODELS.length, end)
  return id.includes("/") ? MODELS + id.replaceAll("/", "%2F") + (query < 0 ? "" : url.slice(query)) : url
}
