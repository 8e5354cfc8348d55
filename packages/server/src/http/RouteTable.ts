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
    const known = segments(route.path)
    if (known.length !== asked.length || !known.every((part, i) => part.startsWith(":") || part === asked[i])) continue
    methods.add(route.method)
    if (route.method === "GET") methods.add("HEAD")
  }
  return [...methods].sort()
}

const segments = (path: string) => path.split("/").filter((part) => part !== "")
