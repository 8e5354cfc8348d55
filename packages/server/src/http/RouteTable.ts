/** Which methods a path answers to: asked only when no route matched, to tell 405 from 404. */
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"

export interface Route {
  readonly method: string
  /** `/api/v1/jobs/:id` */
  readonly path: string
}

/** All routes of a contract. */
export const routesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<Route> => {
  const routes: Array<Route> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => routes.push({ method: endpoint.method, path: endpoint.path })
  })
  return routes
}

/** The methods of the routes that match a path, HEAD beside GET; empty when none does. */
export const methodsOf = (routes: ReadonlyArray<Route>, path: string): ReadonlyArray<string> => {
  const asked = segments(path)
  const methods = new Set<string>()
  for (const route of routes) {
    if (!matches(segments(route.path), asked)) continue
    methods.add(route.method)
    if (route.method === "GET") methods.add("HEAD")
  }
  return [...methods].sort()
}

const segments = (path: string) => path.split("/").filter((part) => part !== "")

const matches = (pattern: ReadonlyArray<string>, asked: ReadonlyArray<string>): boolean =>
  pattern.length === asked.length && pattern.every((part, i) => part.startsWith(":") || part === asked[i])

/**
 * Finds the route of a request by its method and URL: at once where its path is written out, else by its pattern; the
 * query and a slash at the end don't count, and HEAD is GET.
 */
export const makeRouteIndex = (routes: ReadonlyArray<Route>) => {
  const written = new Map<string, Map<string, Route>>()
  const patterns: Array<{ readonly route: Route; readonly parts: ReadonlyArray<string> }> = []
  for (const route of routes) {
    if (route.path.includes(":")) {
      patterns.push({ route, parts: segments(route.path) })
      continue
    }
    const methods = written.get(route.path) ?? new Map<string, Route>()
    written.set(route.path, methods.set(route.method, route))
  }
  return (given: string, url: string): Route | undefined => {
    const method = given === "HEAD" ? "GET" : given
    const plain = written.get(url)?.get(method)
    if (plain !== undefined) return plain
    const query = url.indexOf("?")
    const path = query < 0 ? url : url.slice(0, query)
    const found = written.get(path.length > 1 ? path.replace(/\/$/, "") : path)?.get(method)
    if (found !== undefined) return found
    const asked = segments(path)
    return patterns.find(({ parts, route }) => route.method === method && matches(parts, asked))?.route
  }
}
