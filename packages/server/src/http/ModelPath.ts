/** Ids of open models have slashes, and not every client encodes them: below `/v1/models/` all is one id. */
const MODELS = "/v1/models/"

/** The path and query as the router is to see them. */
export const withModelInOne = (url: string): string => {
  if (!url.startsWith(MODELS)) return url
  const end = url.indexOf("?")
  const id = url.slice(MODELS.length, end < 0 ? undefined : end).replace(/\/+$/, "")
  return id.includes("/") ? MODELS + id.replaceAll("/", "%2F") + (end < 0 ? "" : url.slice(end)) : url
}
