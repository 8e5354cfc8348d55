/**
 * The contract of the infrastructure surface, `/api/v1` (interface: Infrastructure surface). Unknown body fields and
 * query parameters are refused, with all issues at once. Responses may get new fields without breaking the typed
 * client.
 */
import * as HttpApi from "effect/http-api/HttpApi"
import { ApiKeysApi } from "./access/ApiKeysApi.ts"
import { BillingApi } from "./billing/BillingApi.ts"
import { EnvironmentsApi } from "./environments/EnvironmentsApi.ts"
import { InstancesApi } from "./instances/InstancesApi.ts"
import { JobsApi } from "./jobs/JobsApi.ts"
import { StorageApi } from "./storage/StorageApi.ts"
import { TemplatesApi } from "./templates/TemplatesApi.ts"

const strict = { errors: "all", onExcessProperty: "error" } as const

export class InfraApi extends HttpApi.make("infra")
  .add(JobsApi, InstancesApi, TemplatesApi, StorageApi, EnvironmentsApi, ApiKeysApi, BillingApi)
  .annotate(HttpApi.QueryParseOptions, strict)
  .annotate(HttpApi.PayloadParseOptions, strict) {}
