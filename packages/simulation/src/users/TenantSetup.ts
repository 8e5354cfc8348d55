/** How the workspaces of a plan come to be: each with a key, credit and a budget, before anybody asks for anything. */
import { Access } from "@sluice/domain/access/Access"
import { Workspaces } from "@sluice/domain/access/Workspaces"
import { Effect, Redacted } from "effect"
import type { Tenant } from "../plan/Plan.ts"
import type { UserContext } from "./UserContext.ts"

/** One after the other. False: one never got what it needs, and the plan can't be played. */
export const setUpTenants = (users: UserContext, tenants: ReadonlyArray<Tenant>) =>
  users.counted(
    Effect.gen(function* () {
      for (const tenant of tenants) if (!(yield* settled(users, tenant))) return false
      return true
    })
  )

const settled = Effect.fnUntraced(function* (users: UserContext, tenant: Tenant) {
  const name = `tenant/${tenant.name}`
  const workspaceId = yield* users.persist(
    `${name}/workspace`,
    Effect.flatMap(Workspaces, (workspaces) =>
      Effect.catchTag(workspaces.create(tenant.name), "WorkspaceNameTaken", () => workspaces.find(tenant.name))
    )
  )
  if (workspaceId === undefined) return false
  const key = yield* users.persist(
    `${name}/key`,
    Effect.flatMap(Workspaces, (workspaces) => workspaces.createKey(workspaceId, "first"))
  )
  if (key === undefined) return false
  users.keys.push(key)
  yield* users.credit(tenant.name, workspaceId, tenant.creditUsd)
  const principal = yield* users.persist(
    `${name}/login`,
    Effect.flatMap(Access, (access) => access.authenticate(Redacted.value(key), undefined))
  )
  if (principal === undefined) return false
  const { environmentId, keyId } = principal
  users.tenancies.set(tenant.name, { tenant, workspaceId, environmentId, key, keyId })
  if (tenant.monthlyBudgetUsd !== null) yield* users.budget(`${name}/budget`, tenant.name, tenant.monthlyBudgetUsd)
  return true
})
