/**
 * The principal of a request: the workspace, the environment and the scopes of its API key. Every handler works for one
 * principal (decisions: Tenancy).
 */
import { Context } from "effect"

const scopeNames = ["inference", "jobs", "instances", "storage", "environments", "billing", "keys"] as const
export type ScopeName = (typeof scopeNames)[number]
export type Scope = `${ScopeName}:${"read" | "write"}`

export const allScopes: ReadonlyArray<Scope> = scopeNames.flatMap((name) => [`${name}:read`, `${name}:write`] as const)

export interface Principal {
  readonly workspaceId: string
  readonly keyId: string
  readonly scopes: ReadonlyArray<Scope>
  /** The environment of this request, already resolved and checked against the workspace. */
  readonly environmentId: string
  readonly environmentName: string
  /** Requests a minute on the inference surface. */
  readonly rateLimitRpm: number
}

export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()(
  "@sluice/domain/access/CurrentPrincipal"
) {}
