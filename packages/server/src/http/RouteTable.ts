/** Finds the routes of a path, for metrics, and to distinguish 405 from 404. */
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"

export interface Route {
  readonly method: string
  /** For example `/api/v1/jobs/:id`. */
  readonly path: string
}

/** Returns all routes of an API contract. */
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

/** Returns the methods of the routes that match a path, with HEAD beside GET; empty when no route matches. */
export const methodsOf = (routes: ReadonlyArray<Route>, path: string): ReadonlyArray<string> => {
  const requested = segments(path)
  const methods = new Set<string>()
  for (const route of routes) {
    if (!matches(segments(route.path), requested)) continue
    methods.add(route.method)
    if (route.method === "GET") methods.add("HEAD")
  }
  return [...methods].sort()
}

const segments = (path: string) => path.split("/").filter((part) => part !== "")

const matches = (pattern: ReadonlyArray<string>, requested: ReadonlyArray<string>): boolean =>
  pattern.length === requested.length && pattern.every((part, i) => part.startsWith(":") || part === requested[i])

/**
 * Returns a function that finds the route of a method and URL: by a map where the route has no parameters, else by its
 * pattern. The query and a trailing slash are ignored, and HEAD counts as GET.
 */
export const makeRouteIndex = (routes: ReadonlyArray<Route>) => {
  const fixed = new Map<string, Map<string, Route>>()
  const patterns: Array<{ readonly route: Route; readonly parts: ReadonlyArray<string> }> = []
  for (const route of routes) {
    if (route.path.includes(":")) {
      patterns.push({ route, parts: segments(route.path) })
      continue
    }
    const methods = fixed.get(route.path) ?? new Map<string, Route>()
    fixed.set(route.path, methods.set(route.method, route))
  }
  return (given: string, url: string): Route | undefined => {
    const method = given === "HEAD" ? "GET" : given
    const plain = fixed.get(url)?.get(method)
    if (plain !== undefined) return plain
    const query = url.indexOf("?")
    const path = query < 0 ? url : url.slice(0, query)
    const found = fixed.get(path.length > 1 ? path.replace(/\/$/, "") : path)?.get(method)
    if (found !== undefined) return found
    const requested = segments(path)
    return patterns.find(({ parts, route }) => route.method === method && matches(parts, requested))?.route
  }
}
