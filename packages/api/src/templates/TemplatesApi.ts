/** The contract of OS templates, from which machines boot (decisions: Instances, templates). */
import type { Template } from "@sluice/domain/machines/Template"
import { DEFAULT_TEMPLATE } from "@sluice/domain/machines/Template"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { Authorized, NeedsScope, WellFormed } from "../access/InfraAccess.ts"
import { shortListQuery, list } from "../infra/Envelope.ts"

const TemplateWire = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  description: Schema.String,
  gpu_ready: Schema.Boolean,
  default: Schema.Boolean
}).annotate({ identifier: "Template" })

export const templateToWire = (template: Template): typeof TemplateWire.Type => ({
  id: template.id,
  name: template.name,
  description: template.description,
  gpu_ready: template.gpuReady,
  default: template.id === DEFAULT_TEMPLATE
})

const listTemplates = HttpApiEndpoint.get("list", "/", { query: shortListQuery, success: list(TemplateWire) })
  .annotate(NeedsScope, "instances:read")
  .annotateMerge(OpenApi.annotations({ identifier: "listTemplates", summary: "List the OS templates" }))

export class TemplatesApi extends HttpApiGroup.make("templates")
  .add(listTemplates)
  .middleware(WellFormed)
  .middleware(Authorized)
  .prefix("/api/v1/templates") {}
