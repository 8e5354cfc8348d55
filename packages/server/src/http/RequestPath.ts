/**
 * The path and query of a request as everything after it is to see them, whatever the way they were written. Each takes time
 * in proportion to the length, whatever is in it.
 */

/** Ids of open models have slashes, and not every client encodes them: below `/v1/models/` all is one id. */
const MODELS = "/v1/models/"

export const requestPath = (target: string): string => withModelInOne(target.startsWith("/") ? target : pathOf(target))

/** Who asks as of a proxy names the server, too. */
const pathOf = (target: string): string => {
  const rest = target.replace(/^https?:\/\/[^/?]*/i, "")
  return rest === target || rest.startsWith("/") ? rest : `/${rest}`
}

const withModelInOne = (url: string): string => {
  if (!url.startsWith(MODELS)) return url
  const query = url.indexOf("?")
  let end = query < 0 ? url.length : query
  while (url[end - 1] === "/") end -= 1
  const id = url.slice(MODELS.length, end)
  return id.includes("/") ? MODELS + id.replaceAll("/", "%2F") + (query < 0 ? "" : url.slice(query)) : url
}
