/** Ids of open models have slashes, and not every client encodes them: below `/v1/models/` all is one id. */
const MODELS = "/v1/models/"

/** The path and query as the router is to see them. Takes time in proportion to the length, whatever is in it. */
export const withModelInOne = (url: string): string => {
  if (!url.startsWith(MODELS)) return url
  const query = url.indexOf("?")
  let end = query < 0 ? url.length : query
  while (url[end - 1] === "/") end -= 1
  const id = url.slice(MODELS.length, end)
  return id.includes("/") ? MODELS + id.replaceAll("/", "%2F") + (query < 0 ? "" : url.slice(query)) : url
}
